// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace nereid::repository::mirror {

/// A file descriptor that is closed with this object.
class OpenFile {
 public:
  OpenFile() = default;
  explicit OpenFile(int descriptor) : descriptor_(descriptor) {}
  OpenFile(OpenFile&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  OpenFile& operator=(OpenFile&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~OpenFile();

  int descriptor() const { return descriptor_; }
  bool is_open() const { return descriptor_ >= 0; }

 private:
  int descriptor_ = -1;
};

/// All operations by which the cache changes the disk, so that a test can end a process at each of
/// them. Errors are INTERNAL; they name the path, the reason and what to change. Thread-safe.
class FileOperations {
 public:
  virtual ~FileOperations() = default;

  /// Makes a directory for this user only. An existing one is no error.
  virtual base::Status MakeDirectory(const std::string& path) = 0;
  /// Creates a file, which must not exist, and opens it.
  virtual base::Result<OpenFile> Create(const std::string& path) = 0;
  virtual base::Status Write(const OpenFile& file, const std::string& path, uint64_t offset,
                             std::string_view bytes) = 0;
  /// Writes the content of the file through to the disk.
  virtual base::Status Sync(const OpenFile& file, const std::string& path) = 0;
  /// Takes the permission to write from a file.
  virtual base::Status Protect(const std::string& path) = 0;
  virtual base::Status Rename(const std::string& from, const std::string& to) = 0;
  /// Makes a second name for a file. UNSUPPORTED if the file system has no hard links or no more of
  /// them for this file, NOT_FOUND if there is no file `from`.
  virtual base::Status Link(const std::string& from, const std::string& to) = 0;
  /// Deletes a file. A missing one is no error.
  virtual base::Status Remove(const std::string& path) = 0;
  /// Deletes a directory with its content. A missing one is no error.
  virtual base::Status RemoveTree(const std::string& path) = 0;
  /// Sets the time of a file's last use to the current time; its modification time stays.
  virtual void MarkUsed(const std::string& path) = 0;
};

/// Returns the operations of the system. They live as long as the process.
FileOperations& SystemFileOperations();

/// Returns INTERNAL "failed to <action> '<path>': <reason>", with advice for a full disk and for
/// missing permissions. `error` is an errno.
base::Status FileFailure(const std::string& action, const std::string& path, int error);

}  // namespace nereid::repository::mirror
