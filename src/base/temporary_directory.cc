// SPDX-License-Identifier: Apache-2.0
#include "base/temporary_directory.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/files.h"
#include "base/log.h"

namespace nereid::base {

Result<std::unique_ptr<TemporaryDirectory>> TemporaryDirectory::Create() {
  std::error_code error;
  std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  if (error) parent = "/tmp";
  std::string path = JoinPath(parent.string(), "nereid-XXXXXX");
  if (::mkdtemp(path.data()) == nullptr) {
    return Status::Internal("failed to make a temporary directory in " + parent.string() + ": " +
                            std::strerror(errno));
  }
  return std::unique_ptr<TemporaryDirectory>(new TemporaryDirectory(std::move(path)));
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
  if (error) LOG_ERROR << "failed to delete " << path_ << ": " << error.message();
}

}  // namespace nereid::base
