// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "base/unique_fd.h"
#include "nereid/backend/error.h"

namespace nereid::python {

/// An anonymous file in memory (memfd) that the server has mapped. It has no name in /dev/shm, and
/// it is gone when no process has it any more.
class SharedMemory {
 public:
  /// Creates a file of `size` bytes, reserves its memory and maps it for writing. Its size is
  /// sealed, so that the process that gets the file cannot make an access of the server fail.
  /// UNAVAILABLE if the system has no memory for it.
  static backend::Error Create(uint64_t size, std::shared_ptr<SharedMemory>* memory);

  /// Maps a file that a worker has made, for reading. INVALID_ARG unless it is a memfd of at least
  /// `size` bytes that cannot shrink: only then can no access end in SIGBUS.
  static backend::Error Accept(base::UniqueFd file, uint64_t size,
                               std::shared_ptr<SharedMemory>* memory);

  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory();

  char* data() const { return data_; }
  uint64_t size() const { return size_; }
  int file() const { return file_.get(); }
  /// Closes the file when the worker has it. The mapping stays. Called by the thread that sends it.
  void CloseFile() { file_.Reset(); }

 private:
  SharedMemory(base::UniqueFd file, char* data, uint64_t size)
      : file_(std::move(file)), data_(data), size_(size) {}

  base::UniqueFd file_;
  char* data_;
  uint64_t size_;
};

/// Checks that `file` is a memfd of at least `size` bytes that cannot shrink.
backend::Error CheckSealedFile(int file, uint64_t size);

}  // namespace nereid::python
