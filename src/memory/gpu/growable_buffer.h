// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/result.h"
#include "device/cuda_api.h"

namespace nereid::memory {

/// GPU memory that grows without moving: addresses are reserved once, and memory is mapped to them
/// step by step. Does not belong to a pool. Movable; used by one thread at a time. The functions
/// and the destructor call the driver.
class GrowableBuffer {
 public:
  GrowableBuffer() = default;
  /// Reserves the addresses of GpuMemorySettings::address_bytes. The buffer has no memory yet.
  static base::Result<GrowableBuffer> Create(int64_t gpu);
  GrowableBuffer(GrowableBuffer&& other) noexcept { Swap(other); }
  GrowableBuffer& operator=(GrowableBuffer&& other) noexcept {
    GrowableBuffer taken(std::move(other));
    Swap(taken);
    return *this;
  }
  ~GrowableBuffer() { Free(); }

  /// Makes the buffer at least `size` bytes large. New memory is not initialized. Returns
  /// UNAVAILABLE, naming the flag, if the reserved addresses do not suffice, and the driver's error
  /// if there is no memory; the buffer is unchanged then.
  base::Status Grow(size_t size);

  char* data() const { return reinterpret_cast<char*>(address_); }
  /// Returns the bytes that have memory.
  size_t size() const { return size_; }
  int64_t gpu() const { return gpu_; }
  explicit operator bool() const { return address_ != 0; }

 private:
  /// A piece of memory that is mapped; the pieces follow each other.
  struct Piece {
    device::CuMemoryHandle handle = 0;
    size_t size = 0;
  };

  base::Status Reserve();
  base::Status MapPiece(size_t size);
  void Free();
  /// Leaves the memory to a thread that may wait. Returns false if there is none.
  bool FreeElsewhere();
  void Swap(GrowableBuffer& other) noexcept;

  int gpu_ = 0;
  device::CuPointer address_ = 0;
  size_t reserved_ = 0;
  size_t granularity_ = 0;  // sizes are multiples of this
  size_t size_ = 0;
  std::vector<Piece> pieces_;
};

}  // namespace nereid::memory
