// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/mutex.h"

namespace nereid::repository {

/// The times, the size and the inode of a file when it was looked at.
struct FileStamps {
  int64_t modified_ns = 0;  // since the Unix epoch, as the other times
  int64_t changed_ns = 0;
  uint64_t size = 0;
  uint64_t inode = 0;
};

/// Returns whether a file that is written again after `looked_ns` may get the same stamps, because
/// its last change is too recent for the clock of the file system.
bool MayKeepStamps(const FileStamps& stamps, int64_t looked_ns);

/// Finds changes of files that their modification times, sizes and inodes do not show: it compares
/// contents, but only of files whose stamps may be the same after a change. Thread-safe; no file is
/// read while its lock is held.
class ContentMemory {
 public:
  /// Returns a hash of the content of a file; nothing if it cannot be read.
  using ReadContent = std::function<std::optional<uint64_t>(const std::string& path)>;

  /// `counts_change_times`: a file with another change time may have changed although its other
  /// stamps are the same. Without it, programs that set times hide their changes.
  ContentMemory(bool counts_change_times, ReadContent read);

  /// Returns a number that differs from that of the last call if the content of the file was
  /// changed in between although the modification time, the size and the inode are the same.
  /// `looked_ns` is the wall time at which `stamps` were read.
  uint64_t NumberOf(const std::string& path, const FileStamps& stamps, int64_t looked_ns);

 private:
  struct Record {
    FileStamps stamps;
    bool may_keep_stamps = false;
    std::optional<uint64_t> content = std::nullopt;  // nothing: was not read
    uint64_t number = 0;
  };

  bool MustRead(const Record& before, const FileStamps& stamps) const;

  const bool counts_change_times_;
  const ReadContent read_;
  base::Mutex mutex_;
  std::unordered_map<std::string, Record> records_ NEREID_GUARDED_BY(mutex_);
};

/// Returns a 64-bit hash of the content of a file; nothing if it cannot be read.
std::optional<uint64_t> HashContent(const std::string& path);

}  // namespace nereid::repository
