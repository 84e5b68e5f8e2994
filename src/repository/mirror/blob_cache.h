// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <ctime>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/mutex.h"
#include "base/result.h"
#include "repository/mirror/cache_directory.h"
#include "repository/storage/object_store.h"

namespace nereid::repository::mirror {

/// The identity of one version of an object. Its content never changes.
struct ObjectId {
  std::string store;  // the URL of the repository
  std::string key;
  std::string version;
  uint64_t size = 0;
};

/// Contents of objects on the local disk, each named by its SHA-256, and an index from the versions
/// of objects to their contents. Objects with equal contents share one file. Several processes may
/// use one directory; a process may be killed at any point.
///
/// A content is given out only after its SHA-256 was computed from the file that is given out. The
/// result is remembered in the process for this file (inode), time of modification and size.
///
/// The size is bounded: contents that were not used for the longest time are deleted. A content
/// that a checkout uses is never deleted. Checkouts have hard links, so such a content has more
/// than one link, also when another process uses it. Thread-safe.
class BlobCache {
 public:
  struct Options {
    std::string directory;
    uint64_t max_bytes = 0;  // 0: unlimited
  };

  /// Opens the cache and deletes what exceeds its size. INTERNAL if the directory cannot be used.
  static base::Result<std::unique_ptr<BlobCache>> Open(
      const Options& options, FileOperations& files = SystemFileOperations());

  /// Returns the SHA-256 of the object's content if the index has it and a content of this name and
  /// size exists. The content is not verified yet.
  std::optional<std::string> Find(const ObjectId& object) const;
  /// Verifies a content and makes `path` another name of it, or a copy where the file system has no
  /// hard links. NOT_FOUND if the content is missing, or was damaged and therefore deleted.
  base::Status Place(const std::string& sha256, uint64_t size, const std::string& path);
  /// Takes over a temporary file with the complete content of `object`: it gets the name `path` as
  /// with Place, and its content becomes part of the cache. Returns its SHA-256. UNAVAILABLE if
  /// size or checksum are not those of the object.
  base::Result<std::string> Add(const std::string& temporary, const storage::ObjectInfo& object,
                                const std::string& path);
  /// Writes into the index that the object has this content.
  base::Status Record(const ObjectId& object, const std::string& sha256);

  /// Deletes contents until `bytes` more fit, as far as there are unused ones.
  base::Status MakeRoom(uint64_t bytes);

  /// Returns a path for a temporary file. It is deleted when this process ends, at the latest.
  std::string NewTemporaryPath() { return directory_->NewPath(); }
  base::Result<std::unique_ptr<Checkout>> NewCheckout() { return Checkout::Create(directory_); }
  FileOperations& files() const { return directory_->files(); }

  /// Returns the bytes of all contents, as far as this process knows them: those that others have
  /// added or deleted are counted at the next deletion.
  uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  /// What must not have changed since a file was verified.
  struct Verified {
    std::string sha256;
    timespec modified{};
    uint64_t size = 0;
  };

  BlobCache(std::shared_ptr<CacheDirectory> directory, uint64_t max_bytes);
  /// Returns OK if the file has this content, NOT_FOUND if it has another one.
  base::Status Verify(const std::string& path, const std::string& sha256, uint64_t size);
  bool IsVerified(const std::string& path, const std::string& sha256) const;
  void Remember(const std::string& path, const std::string& sha256);
  /// Links or copies.
  base::Status Duplicate(const std::string& from, const std::string& to);
  /// Deletes the index entries whose contents are missing.
  void PruneIndex();

  const std::shared_ptr<CacheDirectory> directory_;
  const uint64_t max_bytes_;
  std::atomic<uint64_t> bytes_{0};
  mutable base::Mutex mutex_;  // a leaf: no file is read while it is held
  std::map<ino_t, Verified> verified_ NEREID_GUARDED_BY(mutex_);
};

}  // namespace nereid::repository::mirror
