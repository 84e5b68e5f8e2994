// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "base/unique_fd.h"
#include "device/shared_allocation.h"
#include "nereid/backend/error.h"

namespace nereid::python {

/// Memory that the server shares with a worker: an anonymous file in memory (memfd) that the server
/// has mapped, or memory of a GPU. It has no name in /dev/shm, and it is gone when no process has
/// it any more.
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

  /// Does the same as Create in the memory of a GPU; the size is rounded up to the GPU's unit.
  /// UNAVAILABLE if the GPU has too little memory, and the driver's error if it has failed.
  static backend::Error CreateOnGpu(int gpu, uint64_t size, std::shared_ptr<SharedMemory>* memory);

  /// Maps memory of a GPU that a worker has made. Returns the driver's error if the file is
  /// anything else, or if that memory is smaller.
  static backend::Error AcceptOnGpu(int gpu, base::UniqueFd file, uint64_t size,
                                    std::shared_ptr<SharedMemory>* memory);

  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory();

  /// Memory of a GPU is read and written by the driver alone.
  char* data() const { return data_; }
  uint64_t size() const { return size_; }
  /// The ordinal of the GPU whose memory it is; -1 for host memory.
  int gpu() const { return on_gpu_ == nullptr ? -1 : on_gpu_->ordinal(); }
  int file() const { return file_.get(); }
  /// Closes the file when the worker has it. The mapping stays. Called by the thread that sends it.
  void CloseFile() { file_.Reset(); }

 private:
  SharedMemory(base::UniqueFd file, char* data, uint64_t size)
      : file_(std::move(file)), data_(data), size_(size) {}
  SharedMemory(base::UniqueFd file, std::unique_ptr<device::SharedAllocation> on_gpu)
      : file_(std::move(file)),
        on_gpu_(std::move(on_gpu)),
        data_(on_gpu_->data()),
        size_(on_gpu_->size()) {}

  base::UniqueFd file_;
  /// Null for host memory.
  const std::unique_ptr<device::SharedAllocation> on_gpu_;
  char* data_;
  uint64_t size_;
};

/// Checks that `file` is a memfd of at least `size` bytes that cannot shrink.
backend::Error CheckSealedFile(int file, uint64_t size);

}  // namespace nereid::python
