// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>

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
        capacity_(std::exchange(other.capacity_, 0)) {}
  HostBuffer& operator=(HostBuffer&& other) noexcept {
    if (this != &other) {
      Reset();
      data_ = std::exchange(other.data_, nullptr);
      size_ = std::exchange(other.size_, 0);
      capacity_ = std::exchange(other.capacity_, 0);
    }
    return *this;
  }

  /// `size` bytes. When the memory cannot be had, the result has data() == nullptr although size
  /// is not 0: sizes come from clients, so running out is an error to report, not a crash.
  static HostBuffer Allocate(size_t size);

  char* data() { return data_; }
  const char* data() const { return data_; }
  size_t size() const { return size_; }
  explicit operator bool() const { return data_ != nullptr; }

  /// Gives the memory back now.
  void Reset();

 private:
  char* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

/// Bytes that the pool keeps for later use at this moment.
size_t PooledHostBytes();

/// Frees everything that the pool keeps.
void TrimHostPool();

}  // namespace nereid::memory
