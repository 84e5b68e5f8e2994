// SPDX-License-Identifier: Apache-2.0
#include "repository/mirror/cache_location.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/files.h"
#include "repository/mirror/file_operations.h"

namespace nereid::repository::mirror {

using base::Status;

namespace {

constexpr const char* kName = "nereid-model-cache";

struct MountVariable {
  const char* scheme;
  const char* name;
};
constexpr MountVariable kMountVariables[] = {{"s3://", "TRITON_AWS_MOUNT_DIRECTORY"},
                                             {"gs://", "TRITON_GCS_MOUNT_DIRECTORY"},
                                             {"as://", "TRITON_AZURE_MOUNT_DIRECTORY"}};

std::string Value(const Environment& environment, const char* name) {
  const char* value = environment(name);
  return value == nullptr ? "" : value;
}

/// Returns the directory that one of the variables names; empty if none does.
std::string MountDirectory(const std::set<std::string>& repositories,
                           const Environment& environment) {
  for (const MountVariable& variable : kMountVariables) {
    const bool is_used = std::any_of(
        repositories.begin(), repositories.end(),
        [&](const std::string& repository) { return repository.starts_with(variable.scheme); });
    std::string directory = Value(environment, variable.name);
    if (is_used && !directory.empty()) return directory;
  }
  return "";
}

std::string TemporaryCacheDirectory(const Environment& environment) {
  std::string parent = Value(environment, "TMPDIR");
  if (parent.empty()) parent = "/tmp";
  return base::JoinPath(parent, std::string(kName) + "-" + std::to_string(::geteuid()));
}

Status CheckPrivate(const std::string& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) return Status::Ok();  // it will be made
  if (S_ISDIR(info.st_mode) && info.st_uid == ::geteuid() && (info.st_mode & 022) == 0) {
    return Status::Ok();
  }
  return Status::InvalidArgument("the model cache '" + path +
                                 "' must be a directory of the server's user that nobody else may "
                                 "write to; delete it, or choose another one with "
                                 "--model-cache-directory");
}

}  // namespace

std::string DefaultCacheDirectory(const std::set<std::string>& repositories,
                                  const Environment& environment) {
  const std::string mounted = MountDirectory(repositories, environment);
  return mounted.empty() ? TemporaryCacheDirectory(environment) : base::JoinPath(mounted, kName);
}

base::Result<std::string> PrepareCacheDirectory(const std::string& given,
                                                const std::set<std::string>& repositories,
                                                const Environment& environment) {
  std::string path = given.empty() ? DefaultCacheDirectory(repositories, environment) : given;
  if (path == TemporaryCacheDirectory(environment)) NEREID_RETURN_IF_ERROR(CheckPrivate(path));
  std::error_code error;
  path = std::filesystem::absolute(path, error).lexically_normal().string();
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  const std::string parent = std::filesystem::path(path).parent_path().string();
  std::filesystem::create_directories(parent, error);
  if (error) return FileFailure("make the directory", parent, error.value());
  return path;
}

}  // namespace nereid::repository::mirror
