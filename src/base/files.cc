// SPDX-License-Identifier: Apache-2.0
#include "base/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

#include "base/unique_fd.h"

namespace nereid::base {
namespace fs = std::filesystem;

namespace {

Status CannotOpen(const std::string& path, const std::string& reason) {
  return Status::NotFound("failed to open text file for read " + path + ": " + reason);
}

Status TooLarge(const std::string& path, uint64_t bytes, uint64_t max_bytes) {
  return Status::InvalidArgument("file " + path + " has " + std::to_string(bytes) +
                                 " bytes, more than the " + std::to_string(max_bytes) + " allowed");
}

/// Reads to the end of the file. `size` is the size that the file system has told, which is 0 for
/// files that the kernel makes up, such as those of control groups.
Result<std::string> ReadToEnd(const std::string& path, int descriptor, uint64_t size,
                              uint64_t max_bytes) {
  constexpr size_t kStep = 4096;
  std::string content;
  size_t filled = 0;
  content.resize(size == 0 ? kStep : size);
  while (true) {
    const ssize_t got = ::read(descriptor, content.data() + filled, content.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Status::Internal("failed to read " + path);
    filled += static_cast<size_t>(got);
    if (filled > max_bytes) return TooLarge(path, filled, max_bytes);
    if (got == 0 || filled == size) break;
    if (filled == content.size()) content.resize(filled + kStep);
  }
  content.resize(filled);
  return content;
}

}  // namespace

Result<std::string> ReadFile(const std::string& path, uint64_t max_bytes) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return CannotOpen(path, std::strerror(errno));
  if (!S_ISREG(info.st_mode)) return CannotOpen(path, "not a regular file");
  const auto size = static_cast<uint64_t>(info.st_size);
  if (size > max_bytes) return TooLarge(path, size, max_bytes);
  // O_NONBLOCK: if the file was replaced by a named pipe since, opening it must not wait.
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.ok()) return CannotOpen(path, std::strerror(errno));
  return ReadToEnd(path, file.get(), size, max_bytes);
}

namespace {

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

/// Returns whether `error` means that the entry leads nowhere and can be skipped: a broken link, a
/// loop of links, or a target that this user may not enter. Any other error fails the whole
/// listing.
bool LeadsNowhere(int error) {
  return error == ENOENT || error == ENOTDIR || error == ELOOP || error == EACCES;
}

Status ListingFailure(const std::string& path, int error) {
  return {error == ENOENT ? StatusCode::kNotFound : StatusCode::kInternal,
          "failed to read directory " + path + ": " + std::generic_category().message(error)};
}

EntryKind KindOf(unsigned char type) {
  switch (type) {
    case DT_DIR:
      return EntryKind::kDirectory;
    case DT_LNK:
      return EntryKind::kLink;
    case DT_UNKNOWN:
      return EntryKind::kUnknown;
    default:
      return EntryKind::kFile;
  }
}

bool IsDotOrDots(const char* name) {
  return name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
}

}  // namespace

// Returns all entries or an error, never a part of them: a caller would take the missing names for
// deleted models.
Result<std::vector<DirectoryEntry>> ListEntries(const std::string& path) {
  const std::unique_ptr<DIR, CloseDirectory> directory(::opendir(path.c_str()));
  if (directory == nullptr) return ListingFailure(path, errno);
  std::vector<DirectoryEntry> entries;
  errno = 0;
  while (const dirent* const entry = ::readdir(directory.get())) {
    if (!IsDotOrDots(entry->d_name)) entries.push_back({entry->d_name, KindOf(entry->d_type)});
    errno = 0;
  }
  if (errno != 0) return ListingFailure(path, errno);
  std::sort(entries.begin(), entries.end(),
            [](const DirectoryEntry& a, const DirectoryEntry& b) { return a.name < b.name; });
  return entries;
}

Result<bool> LeadsToDirectory(const std::string& directory, const DirectoryEntry& entry) {
  if (entry.kind == EntryKind::kDirectory) return true;
  if (entry.kind == EntryKind::kFile) return false;
  struct stat info {};
  if (::stat(JoinPath(directory, entry.name).c_str(), &info) == 0) return S_ISDIR(info.st_mode);
  if (LeadsNowhere(errno)) return false;
  return ListingFailure(directory, errno);
}

Result<std::vector<std::string>> ListDirectory(const std::string& path) {
  NEREID_ASSIGN_OR_RETURN(std::vector<DirectoryEntry> entries, ListEntries(path));
  std::vector<std::string> names;
  names.reserve(entries.size());
  for (DirectoryEntry& entry : entries) names.push_back(std::move(entry.name));
  return names;
}

Result<std::vector<std::string>> ListSubdirectories(const std::string& path) {
  NEREID_ASSIGN_OR_RETURN(std::vector<DirectoryEntry> entries, ListEntries(path));
  std::vector<std::string> names;
  for (DirectoryEntry& entry : entries) {
    NEREID_ASSIGN_OR_RETURN(const bool is_directory, LeadsToDirectory(path, entry));
    if (is_directory) names.push_back(std::move(entry.name));
  }
  return names;
}

bool PathExists(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0;
}

bool IsDirectory(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

bool IsGoneOrForbidden(const std::string& directory) {
  return ::access(directory.c_str(), R_OK | X_OK) != 0 &&
         (errno == EACCES || errno == ENOENT || errno == ENOTDIR);
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
