// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "base/result.h"
#include "repository/mirror/file_operations.h"

namespace nereid::repository::mirror {

/// A lock of a file that excludes other processes and other threads while this object exists.
class FileLock {
 public:
  explicit FileLock(OpenFile file) : file_(std::move(file)) {}

 private:
  OpenFile file_;  // the lock ends when the descriptor is closed, also when the process dies
};

/// The directory of a cache that several processes share:
///
///     lock                     held while blobs are counted or deleted, and while a process begins
///     blobs/ab/ab12…           contents, named by their SHA-256
///     index/cd/cd34…           the SHA-256 of an object's content, named by the object's identity
///     owners/<owner>.lock      locked by its process as long as that lives
///     owners/<owner>/          the temporary files and the checkouts of that process
///
/// A process that begins deletes the directories of the processes that have died. Files get into
/// blobs/ and index/ only by renaming complete ones. Thread-safe.
class CacheDirectory {
 public:
  /// Opens the directory and makes it if it is missing; the directory above must exist. Deletes
  /// what dead processes have left. `files` must outlive this object.
  static base::Result<std::shared_ptr<CacheDirectory>> Open(const std::string& root,
                                                            FileOperations& files);
  /// Deletes the own directory.
  ~CacheDirectory();
  CacheDirectory(const CacheDirectory&) = delete;
  CacheDirectory& operator=(const CacheDirectory&) = delete;

  const std::string& root() const { return root_; }
  std::string blobs() const { return root_ + "/blobs"; }
  std::string index() const { return root_ + "/index"; }
  /// Returns the path of a blob or of an index entry, whose name is a SHA-256.
  std::string BlobPath(const std::string& sha256) const;
  std::string IndexPath(const std::string& sha256) const;
  /// Returns a path that no other file has, below the own directory.
  std::string NewPath();
  FileOperations& files() const { return files_; }

  /// Waits for the cache's lock and takes it.
  base::Result<FileLock> Lock() const;

 private:
  CacheDirectory(std::string root, FileOperations& files);
  base::Status MakeDirectories();
  /// Takes the lock of a new owner and makes its directory.
  base::Status BecomeOwner();
  /// Deletes the directories of owners whose locks are free.
  base::Status RemoveDead();

  const std::string root_;
  FileOperations& files_;
  std::string owner_;  // the path of the own directory; empty before BecomeOwner
  OpenFile owner_lock_;
  std::atomic<uint64_t> next_{0};
};

/// A directory for the files of one model. It is deleted with this object.
class Checkout {
 public:
  static base::Result<std::unique_ptr<Checkout>> Create(std::shared_ptr<CacheDirectory> cache);
  ~Checkout();
  Checkout(const Checkout&) = delete;
  Checkout& operator=(const Checkout&) = delete;

  const std::string& path() const { return path_; }

 private:
  Checkout(std::shared_ptr<CacheDirectory> cache, std::string path)
      : cache_(std::move(cache)), path_(std::move(path)) {}

  const std::shared_ptr<CacheDirectory> cache_;
  const std::string path_;
};

}  // namespace nereid::repository::mirror
