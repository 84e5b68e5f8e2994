// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

#include "base/result.h"
#include "base/unique_fd.h"
#include "device/cuda_api.h"

namespace nereid::device {

/// GPU memory that several processes have mapped. One of them allocates it, and the others open it
/// by a file descriptor, which travels over a Unix socket. The driver frees the memory when no
/// process has it any more, so none is harmed by the end of another one. Immutable; the functions
/// and the destructor call the driver and may block for a millisecond.
class SharedAllocation {
 public:
  /// Allocates at least `size` bytes on a GPU, with undefined content; `*file` stands for them.
  /// Returns UNAVAILABLE if the GPU has too little memory, and the driver's error if it cannot
  /// share memory.
  static base::Result<std::unique_ptr<SharedAllocation>> Create(int ordinal, size_t size,
                                                                base::UniqueFd* file);

  /// Maps the memory that another process has made on the same GPU. The file may be closed
  /// afterwards. Returns the driver's error if the file is none of a GPU's memory, or if that
  /// memory has not exactly `size` bytes.
  static base::Result<std::unique_ptr<SharedAllocation>> Open(int ordinal, size_t size, int file);

  SharedAllocation(const SharedAllocation&) = delete;
  SharedAllocation& operator=(const SharedAllocation&) = delete;
  ~SharedAllocation();

  char* data() const { return reinterpret_cast<char*>(address_); }
  /// Returns the bytes that can be used.
  size_t size() const { return size_; }
  int ordinal() const { return ordinal_; }

 private:
  SharedAllocation(int ordinal, size_t size) : ordinal_(ordinal), size_(size) {}
  /// Maps the memory and drops the handle, which the mapping replaces.
  base::Status Map(CuMemoryHandle handle, const std::string& what);

  const int ordinal_;
  const size_t size_;
  CuPointer address_ = 0;
  bool mapped_ = false;
};

/// Returns the UUID of a GPU, by which processes that number the GPUs differently name it. Returns
/// the driver's error if there is no such GPU.
base::Result<CuUuid> UuidOf(int ordinal);

}  // namespace nereid::device
