// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "base/byte_budget.h"

namespace nereid::memory {

/// The owner of memory that a HostBuffer borrows, of a plug-in for example. The destructor gives
/// the memory back; any thread may call it, once, and event loops do: it must not wait.
class BufferLender {
 public:
  virtual ~BufferLender() = default;

  /// Makes the bytes from `begin` on writable, up to `end` at most. Returns how many of them can be
  /// written; 0 if there is no memory. The owner may need memory of the system for that, so callers
  /// ask only for what they are about to write. One thread at a time, in the order of the bytes.
  virtual size_t Prepare(size_t begin, size_t end) noexcept = 0;
};

/// An owned block of host memory, aligned to 64 bytes and not initialized. Buffers above 64 KiB and
/// up to 64 MiB are recycled through a pool of the process: a new megabyte costs a few hundred page
/// faults, a recycled one none. Movable. May be destroyed by a different thread than the one that
/// allocated it.
class HostBuffer {
 public:
  static constexpr size_t kAlignment = 64;

  HostBuffer() = default;
  ~HostBuffer() { Reset(); }
  HostBuffer(HostBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)),
        lender_(std::move(other.lender_)),
        share_(std::move(other.share_)) {}
  HostBuffer& operator=(HostBuffer&& other) noexcept {
    if (this != &other) {
      Reset();
      data_ = std::exchange(other.data_, nullptr);
      size_ = std::exchange(other.size_, 0);
      capacity_ = std::exchange(other.capacity_, 0);
      lender_ = std::move(other.lender_);
      share_ = std::move(other.share_);
    }
    return *this;
  }

  /// Returns a buffer of `size` bytes. If the memory is not available, the result has data() ==
  /// nullptr although `size` is not 0. Sizes come from clients, so lack of memory is an error to
  /// report and not a crash.
  static HostBuffer Allocate(size_t size);

  /// Returns a buffer of `size` bytes, which is not 0, in memory that `lender` owns and takes back
  /// when the buffer is freed. Prepare() must be called before bytes are written.
  static HostBuffer Borrow(char* data, size_t size, std::unique_ptr<BufferLender> lender);
  bool is_borrowed() const { return lender_ != nullptr; }
  /// Makes borrowed bytes writable, as BufferLender::Prepare does. All bytes of other buffers are.
  size_t Prepare(size_t begin, size_t end) {
    return lender_ == nullptr ? end - begin : lender_->Prepare(begin, end);
  }

  /// Changes the size to `size` bytes, which is at least `used`. The first `used` bytes keep their
  /// contents; data() may change. Returns false and leaves the buffer as it was when the memory is
  /// not available. Buffers of 1 MiB and more are not copied: the kernel moves their pages.
  bool Grow(size_t size, size_t used);

  /// Keeps `share` until the memory is freed, so that the budget is charged wherever the buffer is
  /// moved.
  void Charge(base::ByteShare share) { share_ = std::move(share); }
  /// Returns the share that Charge() set, or a share without a budget.
  base::ByteShare& share() { return share_; }

  char* data() { return data_; }
  const char* data() const { return data_; }
  size_t size() const { return size_; }
  explicit operator bool() const { return data_ != nullptr; }

  /// Frees the memory.
  void Reset() {
    // Most buffers have been moved from when they are destroyed.
    if (data_ != nullptr || share_.size() != 0) Free();
  }

 private:
  void Free();

  char* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
  std::unique_ptr<BufferLender> lender_;  // null: the memory is the buffer's own
  base::ByteShare share_;
};

/// Returns the number of bytes that the pool keeps for later use.
size_t PooledHostBytes();

/// Frees all memory that the pool keeps.
void TrimHostPool();

}  // namespace nereid::memory
