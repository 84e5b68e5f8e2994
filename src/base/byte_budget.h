// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>

namespace nereid::base {

class ByteBudget;

/// Bytes of a budget, held for as long as the object lives. Move-only.
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

  /// Takes `size` bytes more from the same budget, without waiting. False, with the share as it
  /// was, when there is no room. A share of no budget grows without a bound.
  inline bool Grow(size_t size);

 private:
  friend class ByteBudget;
  ByteShare(std::shared_ptr<ByteBudget> budget, size_t size)
      : budget_(std::move(budget)), size_(size) {}
  inline void Release();

  std::shared_ptr<ByteBudget> budget_;
  size_t size_ = 0;
};

/// Bounds the bytes that wait for one reader. Who has more to write than the reader takes is held
/// up for a while, if its thread may be, and refused then. Thread-safe; the locks are leaves.
class ByteBudget : public std::enable_shared_from_this<ByteBudget> {
 public:
  /// `patience`: how long a writer is held up at most. A thread that writes to several readers that
  /// do not read is held up hardly longer by all of them (PatienceLedger).
  ByteBudget(size_t limit, std::chrono::milliseconds patience)
      : limit_(limit), patience_(patience) {}

  size_t limit() const { return limit_; }

  /// Takes `size` bytes; more than the limit may be taken while nothing else is. Waits for room
  /// where `may_wait` and the calling thread may block (ThreadMayBlock). False when there is no
  /// room, or nobody reads any more.
  bool Take(size_t size, bool may_wait, ByteShare* share);

  /// Takes bytes that must go out, however much waits.
  ByteShare Force(size_t size);

  /// Whether more than half is taken.
  bool IsHalfSpent() const { return taken_.load(std::memory_order_relaxed) > limit_ / 2; }

  /// Nobody reads any more: whoever waits is refused, and whoever comes.
  void Close();
  bool IsClosed() const { return closed_.load(std::memory_order_acquire); }

 private:
  friend class ByteShare;

  bool TryTake(size_t size) { return TryTakeMore(size, 0); }
  /// Takes `size` bytes for a share that has `held` of them: a share that is alone may be larger
  /// than the limit.
  bool TryTakeMore(size_t size, size_t held);
  bool WaitAndTake(size_t size);
  void Give(size_t size);

  const size_t limit_;
  const std::chrono::milliseconds patience_;
  std::atomic<size_t> taken_{0};
  std::atomic<int> waiters_{0};
  std::atomic<bool> closed_{false};
  std::mutex mutex_;  // for waiting only
  std::condition_variable changed_;
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

/// False on a thread that called ForbidBlocking.
bool ThreadMayBlock();

}  // namespace nereid::base
