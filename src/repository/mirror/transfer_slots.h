// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <utility>

#include "base/mutex.h"

namespace nereid::repository::mirror {

/// Bounds the number of reads at the same time, over all loads. Thread-safe.
class TransferSlots {
 public:
  /// A place for one read; empty if the wait for it was cancelled.
  class Slot {
   public:
    Slot() = default;
    Slot(Slot&& other) noexcept : slots_(std::exchange(other.slots_, nullptr)) {}
    Slot& operator=(Slot&&) = delete;
    ~Slot() {
      if (slots_ != nullptr) slots_->Leave();
    }
    explicit operator bool() const { return slots_ != nullptr; }

   private:
    friend class TransferSlots;
    explicit Slot(TransferSlots* slots) : slots_(slots) {}
    TransferSlots* slots_ = nullptr;
  };

  explicit TransferSlots(uint32_t count) : free_(count) {}

  /// Waits for a free slot. Asks `is_cancelled` every 100 ms.
  Slot Take(const std::function<bool()>& is_cancelled) {
    base::MutexLock lock(mutex_);
    while (free_ == 0) {
      freed_.WaitFor(lock, std::chrono::milliseconds(100));
      lock.Unlock();
      const bool cancelled = is_cancelled();
      lock.Lock();
      if (cancelled) return {};
    }
    --free_;
    return Slot(this);
  }

 private:
  void Leave() {
    base::MutexLock lock(mutex_);
    ++free_;
    freed_.NotifyOne();
  }

  base::Mutex mutex_;
  base::ConditionVariable freed_;
  uint32_t free_ NEREID_GUARDED_BY(mutex_);
};

}  // namespace nereid::repository::mirror
