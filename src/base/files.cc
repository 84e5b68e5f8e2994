// SPDX-License-Identifier: Apache-2.0
#include "base/files.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace nereid::base {
namespace fs = std::filesystem;

Result<std::string> ReadFile(const std::string& path, uint64_t max_bytes) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) {
    return Status::NotFound("failed to open text file for read " + path + ": " +
                            (error ? error.message() : std::string("not a regular file")));
  }
  const uint64_t size = fs::file_size(path, error);
  if (!error && size > max_bytes) {
    return Status::InvalidArgument("file " + path + " has " + std::to_string(size) +
                                   " bytes, more than the " + std::to_string(max_bytes) +
                                   " allowed");
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    return Status::NotFound("failed to open text file for read " + path + ": " +
                            std::strerror(errno));
  }
  std::string content;
  content.resize(error ? 0 : size);
  in.read(content.data(), static_cast<std::streamsize>(content.size()));
  content.resize(static_cast<size_t>(in.gcount()));
  if (in.bad()) return Status::Internal("failed to read " + path);
  return content;
}

namespace {

/// Returns whether `error` means that the entry leads nowhere and can be skipped: a broken link, a
/// loop of links, or a target that this user may not enter. Any other error fails the whole
/// listing.
bool LeadsNowhere(const std::error_code& error) {
  return error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory ||
         error == std::errc::too_many_symbolic_link_levels || error == std::errc::permission_denied;
}

Status ListingFailure(const std::string& path, const std::error_code& error) {
  const bool missing = error == std::errc::no_such_file_or_directory;
  return {missing ? StatusCode::kNotFound : StatusCode::kInternal,
          "failed to read directory " + path + ": " + error.message()};
}

/// Returns all names or an error, never a part of them: a caller would take the missing names for
/// deleted models.
Result<std::vector<std::string>> List(const std::string& path, bool directories_only) {
  std::error_code error;
  fs::directory_iterator it(path, error);
  std::vector<std::string> names;
  while (!error && it != fs::directory_iterator()) {
    const bool wanted = !directories_only || it->is_directory(error);
    if (error && !LeadsNowhere(error)) break;
    if (wanted) names.push_back(it->path().filename());
    it.increment(error);
  }
  if (error) return ListingFailure(path, error);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

Result<std::vector<std::string>> ListDirectory(const std::string& path) {
  return List(path, false);
}

Result<std::vector<std::string>> ListSubdirectories(const std::string& path) {
  return List(path, true);
}

bool PathExists(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error);
}

bool IsDirectory(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

bool IsPlainName(std::string_view name) {
  return !name.empty() && name.find('/') == std::string_view::npos && name != "." && name != "..";
}

bool IsInside(const std::string& directory, const std::string& path) {
  std::error_code error;
  const fs::path root = fs::weakly_canonical(directory, error);
  if (error) return false;
  const fs::path target = fs::weakly_canonical(path, error);
  if (error) return false;
  const fs::path relative = target.lexically_relative(root);
  return !relative.empty() && *relative.begin() != "..";
}

std::string JoinPath(std::string_view directory, std::string_view name) {
  std::string path(directory);
  if (!path.empty() && path.back() != '/') path += '/';
  while (!name.empty() && name.front() == '/') name.remove_prefix(1);
  path.append(name);
  return path;
}

}  // namespace nereid::base
