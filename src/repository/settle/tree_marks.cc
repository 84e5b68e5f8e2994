// SPDX-License-Identifier: Apache-2.0
#include "repository/settle/tree_marks.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/files.h"
#include "config/version_policy.h"
#include "repository/settle/mix.h"

namespace nereid::repository {
namespace {

using base::Status;

constexpr std::string_view kRuntimeCache = "__pycache__";

/// A directory counts as older than a scan if it is older by this much. The times of files come
/// from a coarse clock, which lags behind by a few milliseconds.
constexpr int64_t kClockMarginNs = 200'000'000;

int64_t ToNs(const struct statx_timestamp& time) {
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

/// Reads what the file system tells about a path. Returns false if it does not exist.
base::Result<bool> Look(const std::string& path, int flags, struct statx* info) {
  if (::statx(AT_FDCWD, path.c_str(), flags, STATX_BASIC_STATS | STATX_BTIME, info) == 0) {
    return true;
  }
  const int error = errno;
  if (error != EIO && error != ESTALE && error != ETIMEDOUT) return false;
  return Status::Internal("failed to stat file " + path + ": " +
                          std::generic_category().message(error));
}

/// Returns the mark of a path; nothing if it does not exist. `is_link` is set for a link.
base::Result<std::optional<FileMark>> ReadMark(const std::string& path, bool* is_link) {
  struct statx info {};
  NEREID_ASSIGN_OR_RETURN(bool exists, Look(path, AT_SYMLINK_NOFOLLOW, &info));
  *is_link = exists && S_ISLNK(info.stx_mode);
  if (*is_link) {
    NEREID_ASSIGN_OR_RETURN(exists, Look(path, 0, &info));
  }
  if (!exists) return std::optional<FileMark>();
  FileMark mark;
  mark.is_directory = S_ISDIR(info.stx_mode);
  mark.device = (uint64_t{info.stx_dev_major} << 32) | info.stx_dev_minor;
  mark.inode = info.stx_ino;
  mark.size = info.stx_size;
  mark.modified_ns = ToNs(info.stx_mtime);
  mark.changed_ns = ToNs(info.stx_ctime);
  if ((info.stx_mask & STATX_BTIME) != 0) mark.born_ns = ToNs(info.stx_btime);
  return std::optional(mark);
}

/// Returns whether both are the same file or directory with the same content, as far as the marks
/// tell.
bool IsSame(const FileMark& a, const FileMark& b) {
  if (a.is_directory != b.is_directory || a.inode != b.inode || a.device != b.device) return false;
  return a.is_directory || a == b;
}

bool IsBelow(std::string_view path, std::string_view directory) {
  return directory.empty() || path == directory ||
         (path.starts_with(directory) && path.substr(directory.size()).starts_with('/'));
}

/// Returns whether nothing below a directory was changed after the directory itself was.
bool IsUntouchedSinceItsChange(const TreeMarks& marks, const std::string& directory) {
  const int64_t moved_ns = marks.at(directory).changed_ns;
  return std::all_of(marks.begin(), marks.end(), [&](const auto& entry) {
    return !IsBelow(entry.first, directory) || entry.second.changed_ns <= moved_ns;
  });
}

bool WasMovedIn(const TreeMarks& marks, const std::string& directory, const LastScan& last) {
  const FileMark& mark = marks.at(directory);
  if (!mark.is_directory || mark.born_ns == 0) return false;
  // A rename sets the change time alone, a new or deleted entry sets both.
  return mark.born_ns + kClockMarginNs < last.wall_ns && mark.modified_ns < mark.changed_ns &&
         IsUntouchedSinceItsChange(marks, directory);
}

/// Returns the name of the only entry of the model's directory that differs; nothing if several
/// differ.
std::string OnlyChangedEntry(const TreeMarks& before, const TreeMarks& now) {
  std::string only;
  const auto note = [&](const std::string& path) {
    const std::string entry = path.substr(0, path.find('/'));
    if (!only.empty() && only != entry) return false;
    only = entry;
    return !entry.empty();
  };
  for (const auto& [path, mark] : now) {
    const auto found = before.find(path);
    if ((found == before.end() || !IsSame(found->second, mark)) && !note(path)) return "";
  }
  for (const auto& [path, mark] : before) {
    if (!now.contains(path) && !note(path)) return "";
  }
  return only;
}

}  // namespace

base::Result<TreeMarks> ReadTreeMarks(const std::string& directory) {
  TreeMarks marks;
  bool is_link = false;
  NEREID_ASSIGN_OR_RETURN(const auto own, ReadMark(directory, &is_link));
  if (!own || !own->is_directory) {
    return Status::NotFound("'" + directory + "' is no directory");
  }
  marks[""] = *own;
  std::vector<std::string> pending{""};
  while (!pending.empty()) {
    const std::string below = std::move(pending.back());
    pending.pop_back();
    const auto names = base::ListDirectory(base::JoinPath(directory, below));
    if (!names.ok()) {
      const bool is_empty =
          !below.empty() && base::IsGoneOrForbidden(base::JoinPath(directory, below));
      if (!is_empty) return names.status();
      continue;
    }
    for (const std::string& name : *names) {
      if (name == kRuntimeCache) continue;
      const std::string path = below.empty() ? name : below + "/" + name;
      is_link = false;
      NEREID_ASSIGN_OR_RETURN(const auto mark, ReadMark(base::JoinPath(directory, path), &is_link));
      if (!mark) continue;
      marks[path] = *mark;
      if (mark->is_directory && !is_link) pending.push_back(path);
    }
  }
  return marks;
}

bool IsOnLocalDisk(const std::string& directory) {
  // NFS, SMB, CIFS, SMB2, FUSE, Ceph, 9P, AFS, OrangeFS
  constexpr uint32_t kRemote[] = {0x6969,     0x517b,     0xff534d42, 0xfe534d42, 0x65735546,
                                  0x00c36400, 0x01021997, 0x5346414f, 0x20030528};
  struct statfs info {};
  if (::statfs(directory.c_str(), &info) != 0) return false;
  const auto type = static_cast<uint32_t>(info.f_type);
  return std::find(std::begin(kRemote), std::end(kRemote), type) == std::end(kRemote);
}

uint64_t Fingerprint(const TreeMarks& marks) {
  uint64_t sum = Mix(marks.size());
  for (const auto& [path, mark] : marks) {
    uint64_t hash = Mix(std::hash<std::string>{}(path));
    hash = Mix(hash, mark.inode);
    hash = Mix(hash, mark.device);
    if (!mark.is_directory) {
      hash = Mix(hash, mark.size);
      hash = Mix(hash, static_cast<uint64_t>(mark.modified_ns));
      hash = Mix(hash, static_cast<uint64_t>(mark.changed_ns));
    }
    sum += hash;
  }
  return sum;
}

std::string FindChange(const TreeMarks& before, const TreeMarks& now, bool with_additions) {
  const auto named = [](const std::string& path) { return path.empty() ? "." : path; };
  for (const auto& [path, mark] : before) {
    const auto found = now.find(path);
    if (found == now.end() || !IsSame(found->second, mark)) return named(path);
  }
  if (!with_additions) return "";
  for (const auto& [path, mark] : now) {
    if (!before.contains(path)) return named(path);
  }
  return "";
}

int64_t LatestChangeNs(const TreeMarks& marks) {
  int64_t latest = 0;
  for (const auto& [path, mark] : marks) latest = std::max(latest, mark.changed_ns);
  return latest;
}

bool ArrivedWhole(const LastScan& last, const TreeMarks& now) {
  if (last.marks == nullptr || !IsSame(last.marks->at(""), now.at(""))) {
    return WasMovedIn(now, "", last);
  }
  if (!last.was_accepted) return false;
  const std::string entry = OnlyChangedEntry(*last.marks, now);
  if (!config::ParseVersionDirectory(entry) || !now.contains(entry)) return false;
  const auto before = last.marks->find(entry);
  const bool is_new = before == last.marks->end() || !IsSame(before->second, now.at(entry));
  return is_new && WasMovedIn(now, entry, last);
}

}  // namespace nereid::repository
