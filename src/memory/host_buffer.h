// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>

#include "base/byte_budget.h"

namespace nereid::memory {

/// Owned host memory, not initialised, aligned to 64 bytes. Large buffers are recycled through a
/// process-wide pool: a fresh megabyte costs a few hundred page faults, a recycled one none.
/// Movable; may be destroyed on another thread than the one that made it.
class HostBuffer {
 public:
  static constexpr size_t kAlignment = 64;

  HostBuffer() = default;
  ~HostBuffer() { Reset(); }
  HostBuffer(HostBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)),
        share_(std::move(other.share_)) {}
  HostBuffer& operator=(HostBuffer&& other) noexcept {
    if (this != &other) {
      Reset();
      data_ = std::exchange(other.data_, nullptr);
      size_ = std::exchange(other.size_, 0);
      capacity_ = std::exchange(other.capacity_, 0);
      share_ = std::move(other.share_);
    }
    return *this;
  }

  /// `size` bytes. When the memory cannot be had, the result has data() == nullptr although size
  /// is not 0: sizes come from clients, so running out is an error to report, not a crash.
  static HostBuffer Allocate(size_t size);

  /// Makes the buffer `size` bytes long, which is not less than `used`; its first `used` bytes keep
  /// their contents, and data() may change. False, with the buffer as it was, when the memory
  /// cannot be had. From 1 MiB on nothing is copied: the kernel moves the pages.
  bool Grow(size_t size, size_t used);

  /// Holds `share` until the memory is given back, so that a budget follows the buffer wherever it
  /// moves.
  void Charge(base::ByteShare share) { share_ = std::move(share); }
  /// The share that Charge() gave; one of no budget before that.
  base::ByteShare& share() { return share_; }

  char* data() { return data_; }
  const char* data() const { return data_; }
  size_t size() const { return size_; }
  explicit operator bool() const { return data_ != nullptr; }

  /// Gives the memory back now.
  void Reset() {
    // Most buffers that end have been moved from.
    if (data_ != nullptr || share_.size() != 0) Free();
  }

 private:
  void Free();

  char* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
  base::ByteShare share_;
};

/// Bytes that the pool keeps for later use at this moment.
size_t PooledHostBytes();

/// Frees everything that the pool keeps.
void TrimHostPool();

}  // namespace nereid::memory
