// SPDX-License-Identifier: Apache-2.0
#include "base/file_version.h"

#include <sys/stat.h>

namespace nereid::base {
namespace {

int64_t Nanoseconds(const timespec& time) {
  return static_cast<int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

FileVersion FileVersionOf(const std::string& path) {
  struct stat facts = {};
  if (path.empty() || stat(path.c_str(), &facts) != 0) return {};
  return {facts.st_dev, facts.st_ino, facts.st_size, Nanoseconds(facts.st_mtim),
          Nanoseconds(facts.st_ctim)};
}

}  // namespace nereid::base
