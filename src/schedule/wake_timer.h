// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <utility>

#include "base/mutex.h"
#include "base/thread_annotations.h"
#include "base/timer_queue.h"

namespace nereid::schedule {

/// Calls one function at requested times. WakeAt(t) guarantees a call at or before t. If an earlier
/// call is pending, WakeAt does nothing: the function must examine all work and request its next
/// time itself. The function runs without a lock. Thread-safe.
class WakeTimer {
 public:
  WakeTimer(base::TimerQueue& timers, std::function<void()> callback)
      : timers_(timers), callback_(std::move(callback)) {}
  /// Cancels all calls. When it returns, the function is not running and will not be called. WakeAt
  /// must not be called during or after destruction.
  ~WakeTimer();
  WakeTimer(const WakeTimer&) = delete;
  WakeTimer& operator=(const WakeTimer&) = delete;

  /// Requests a call at or before `deadline_ns` (base::Clock time). UINT64_MAX requests nothing.
  /// May be called with any lock of the caller held, including one that the function takes.
  void WakeAt(uint64_t deadline_ns);

 private:
  using Pending = std::pair<uint64_t, base::TimerQueue::TimerId>;  // deadline, id

  void OnTimer(const Pending& timer);

  base::TimerQueue& timers_;
  const std::function<void()> callback_;
  // Taken under the caller's lock; only the timer queue's lock is taken under it.
  base::Mutex mutex_;
  std::set<Pending> pending_ NEREID_GUARDED_BY(mutex_);
  std::set<Pending> running_ NEREID_GUARDED_BY(mutex_);  // their callbacks have begun
};

}  // namespace nereid::schedule
