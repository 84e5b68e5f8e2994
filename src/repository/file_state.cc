// SPDX-License-Identifier: Apache-2.0
#include "repository/file_state.h"

#include <sys/stat.h>

#include <cerrno>
#include <ctime>
#include <functional>
#include <system_error>
#include <vector>

#include "base/files.h"
#include "config/version_policy.h"
#include "repository/settle/content_memory.h"
#include "repository/settle/mix.h"

namespace nereid::repository {
namespace {

int64_t ToNs(const struct timespec& time) {
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

int64_t WallNs() {
  struct timespec now {};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return ToNs(now);
}

bool IsLink(const std::string& path, const base::DirectoryEntry& entry) {
  if (entry.kind != base::EntryKind::kUnknown) return entry.kind == base::EntryKind::kLink;
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0 && S_ISLNK(info.st_mode);
}

struct PathHash {
  uint64_t hash = 0;
  bool is_directory = false;  // or a link to one
};

/// Returns the hash of one file. For a deleted file or a broken link only the name counts. If the
/// file system does not answer, that is an error, not a change.
base::Result<PathHash> HashOf(const std::string& name, const std::string& path,
                              ContentMemory* memory) {
  struct stat info {};
  uint64_t hash = Mix(std::hash<std::string>{}(name));
  if (::stat(path.c_str(), &info) != 0) {
    const int error = errno;
    if (error != EIO && error != ESTALE && error != ETIMEDOUT) return PathHash{hash};
    return base::Status::Internal("failed to stat file " + path + ": " +
                                  std::generic_category().message(error));
  }
  for (const uint64_t part :
       {static_cast<uint64_t>(info.st_mtim.tv_sec), static_cast<uint64_t>(info.st_mtim.tv_nsec),
        static_cast<uint64_t>(info.st_size), static_cast<uint64_t>(info.st_ino)}) {
    hash = Mix(hash, part);
  }
  if (memory != nullptr && S_ISREG(info.st_mode)) {
    const FileStamps stamps{ToNs(info.st_mtim), ToNs(info.st_ctim),
                            static_cast<uint64_t>(info.st_size), info.st_ino};
    hash += memory->NumberOf(path, stamps, WallNs());
  }
  return PathHash{hash, S_ISDIR(info.st_mode)};
}

/// Returns the sum of the hashes of the entries, because directories are listed in no fixed order.
/// A directory that cannot be read for lack of permission, or that was deleted since it was listed,
/// counts as empty.
base::Result<uint64_t> HashOfTree(const std::string& name, const std::string& path,
                                  ContentMemory* memory) {
  NEREID_ASSIGN_OR_RETURN(const PathHash top, HashOf(name, path, memory));
  uint64_t sum = top.hash;
  std::vector<std::string> pending;
  if (top.is_directory) pending.push_back(path);
  while (!pending.empty()) {
    const std::string directory = std::move(pending.back());
    pending.pop_back();
    const auto entries = base::ListEntries(directory);
    if (!entries.ok()) {
      if (!base::IsGoneOrForbidden(directory)) return entries.status();
      continue;
    }
    for (const base::DirectoryEntry& entry : *entries) {
      std::string below = base::JoinPath(directory, entry.name);
      NEREID_ASSIGN_OR_RETURN(const PathHash found,
                              HashOf(below.substr(path.size()), below, memory));
      sum += found.hash;
      if (found.is_directory && !IsLink(below, entry)) pending.push_back(std::move(below));
    }
  }
  return sum;
}

}  // namespace

base::Result<FileState> ReadFileState(const std::string& directory, ContentMemory* memory) {
  NEREID_ASSIGN_OR_RETURN(const auto names, base::ListDirectory(directory));
  FileState state;
  for (const std::string& name : names) {
    NEREID_ASSIGN_OR_RETURN(state.entries[name],
                            HashOfTree(name, base::JoinPath(directory, name), memory));
  }
  return state;
}

bool IsConfigEntry(const std::string& name) { return name == "config.pbtxt" || name == "configs"; }

bool VersionUnchanged(const FileState& before, const FileState& now, int64_t version) {
  const std::string own = std::to_string(version);
  const auto relevant = [&](const FileState& state) {
    FileState filtered;
    for (const auto& [name, hash] : state.entries) {
      if (name != own && (IsConfigEntry(name) || config::ParseVersionDirectory(name))) continue;
      filtered.entries[name] = hash;
    }
    return filtered;
  };
  return relevant(before) == relevant(now);
}

}  // namespace nereid::repository
