// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <utility>

#include "base/mutex.h"

namespace nereid::base {

class ByteBudget;

/// A number of bytes taken from a ByteBudget. They are returned when the object is destroyed.
/// Move-only.
class ByteShare {
 public:
  ByteShare() = default;
  ByteShare(ByteShare&& other) noexcept
      : budget_(std::move(other.budget_)), size_(std::exchange(other.size_, 0)) {}
  ByteShare& operator=(ByteShare&& other) noexcept {
    if (this != &other) {
      Release();
      budget_ = std::move(other.budget_);
      size_ = std::exchange(other.size_, 0);
    }
    return *this;
  }
  ~ByteShare() { Release(); }

  size_t size() const { return size_; }

  /// Takes `size` more bytes from the same budget, without waiting. Returns false and leaves the
  /// share as it was when there is no room. A share without a budget grows without limit.
  inline bool Grow(size_t size);

 private:
  friend class ByteBudget;
  ByteShare(std::shared_ptr<ByteBudget> budget, size_t size)
      : budget_(std::move(budget)), size_(size) {}
  inline void Release();

  std::shared_ptr<ByteBudget> budget_;
  size_t size_ = 0;
};

/// A limit on the bytes that wait to be read by one reader. A writer that exceeds the limit waits
/// for a while if its thread may block, and is then refused. Thread-safe. No other lock is taken
/// while the internal mutex is held.
class ByteBudget : public std::enable_shared_from_this<ByteBudget> {
 public:
  /// `patience` is the longest time that a writer waits in one call. A thread that writes to
  /// several readers that do not read waits little longer for all of them together (see
  /// SlowReaderBudget).
  ByteBudget(size_t limit, std::chrono::milliseconds patience)
      : limit_(limit), patience_(patience) {}

  size_t limit() const { return limit_; }

  /// Takes `size` bytes into `share`. A `size` above the limit is accepted while nothing else is
  /// taken. Waits for room when `may_wait` is true and the calling thread may block
  /// (ThreadMayBlock). Returns false when there is no room or the budget is closed.
  bool Take(size_t size, bool may_wait, ByteShare* share);

  /// Takes `size` bytes even if this exceeds the limit. For bytes that must be sent.
  ByteShare Force(size_t size);

  /// Returns whether more than half of the limit is taken.
  bool IsHalfSpent() const { return taken_.load(std::memory_order_relaxed) > limit_ / 2; }

  /// Declares that the reader has stopped reading. Waiting writers and all later writers are
  /// refused.
  void Close();
  bool IsClosed() const { return closed_.load(std::memory_order_acquire); }

 private:
  friend class ByteShare;

  bool TryTake(size_t size) { return TryTakeMore(size, 0); }
  /// Takes `size` bytes for a share that holds `held` bytes. A share that is the only one may
  /// exceed the limit.
  bool TryTakeMore(size_t size, size_t held);
  bool WaitAndTake(size_t size);
  void Give(size_t size);

  const size_t limit_;
  const std::chrono::milliseconds patience_;
  std::atomic<size_t> taken_{0};
  std::atomic<int> waiters_{0};
  std::atomic<bool> closed_{false};
  Mutex mutex_;  // guards no member: used for waiting only; the count is atomic
  ConditionVariable changed_;
};

inline bool ByteShare::Grow(size_t size) {
  if (budget_ != nullptr && !budget_->TryTakeMore(size, size_)) return false;
  size_ += size;
  return true;
}

inline void ByteShare::Release() {
  if (budget_ != nullptr) budget_->Give(std::exchange(size_, 0));
  budget_.reset();
}

/// Declares that the calling thread serves many clients and must never wait for one of them.
void ForbidBlocking();

/// Returns false on a thread that has called ForbidBlocking().
bool ThreadMayBlock();

}  // namespace nereid::base
