// SPDX-License-Identifier: Apache-2.0
#include "base/usable_memory.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>
#include <string_view>

namespace nereid::base {
namespace {

constexpr int kMaxLevels = 64;

/// Returns the number at the beginning of the file; UINT64_MAX for "max" or if there is no such
/// file.
uint64_t LimitIn(const std::string& path) {
  std::ifstream file(path);
  std::string text;
  file >> text;
  uint64_t limit = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), limit);
  return result.ec == std::errc() ? limit : UINT64_MAX;
}

/// Returns the smallest limit of the group `path` and the groups above it. Inside a container the
/// path is often that of the host and does not exist; then only the file of the root group is
/// found.
uint64_t SmallestLimit(const std::string& mount, std::string path, const char* file) {
  uint64_t smallest = LimitIn(mount + "/" + file);
  for (int level = 0; level < kMaxLevels && path.size() > 1; ++level) {
    smallest = std::min(smallest, LimitIn(mount + path + "/" + file));
    path.erase(path.rfind('/'));
  }
  return smallest;
}

bool HasController(std::string_view controllers, std::string_view name) {
  while (!controllers.empty()) {
    const size_t comma = controllers.find(',');
    if (controllers.substr(0, comma) == name) return true;
    controllers.remove_prefix(comma == std::string_view::npos ? controllers.size() : comma + 1);
  }
  return false;
}

}  // namespace

uint64_t ControlGroupLimit(const std::string& root, const std::string& membership) {
  uint64_t smallest = UINT64_MAX;
  std::istringstream lines(membership);
  for (std::string line; std::getline(lines, line);) {
    // A line is "0::/path" in version 2 and "4:memory,cpu:/path" in version 1.
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos || line[second + 1] != '/') continue;
    const std::string_view controllers =
        std::string_view(line).substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (controllers.empty()) {
      smallest = std::min(smallest, SmallestLimit(root, path, "memory.max"));
    } else if (HasController(controllers, "memory")) {
      smallest = std::min(smallest, SmallestLimit(root + "/memory", path, "memory.limit_in_bytes"));
    }
  }
  return smallest;
}

uint64_t ResidentMemoryBytes() {
  std::ifstream file("/proc/self/statm");  // pages: total, resident, …
  uint64_t total = 0;
  uint64_t resident = 0;
  if (!(file >> total >> resident)) return 0;
  return resident * static_cast<uint64_t>(std::max(0L, sysconf(_SC_PAGESIZE)));
}

uint64_t UsableMemoryBytes() {
  const uint64_t physical = static_cast<uint64_t>(std::max(0L, sysconf(_SC_PHYS_PAGES))) *
                            static_cast<uint64_t>(std::max(0L, sysconf(_SC_PAGESIZE)));
  std::ifstream file("/proc/self/cgroup");
  std::ostringstream membership;
  membership << file.rdbuf();
  return std::min(physical, ControlGroupLimit("/sys/fs/cgroup", membership.str()));
}

}  // namespace nereid::base
