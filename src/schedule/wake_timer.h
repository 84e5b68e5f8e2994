// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "base/duration.h"
#include "base/mutex.h"
#include "base/thread_annotations.h"
#include "base/timer_queue.h"

namespace nereid::schedule {

/// Calls one function at requested times. WakeAt(t) guarantees a call at or before t. If an earlier
/// call is pending, WakeAt does nothing: the function must examine all work and request its next
/// time itself. The function runs without a lock. At most one timer of the queue is in use, however
/// many calls are requested. Thread-safe.
class WakeTimer {
 public:
  WakeTimer(base::TimerQueue& timers, std::function<void()> callback)
      : timers_(timers), callback_(std::move(callback)) {}
  /// Cancels all calls. When it returns, the function is not running and will not be called. WakeAt
  /// must not be called during or after destruction, except by the function itself.
  ~WakeTimer();
  WakeTimer(const WakeTimer&) = delete;
  WakeTimer& operator=(const WakeTimer&) = delete;

  /// Requests a call at or before `deadline_ns` (base::Clock time). kNever requests nothing. May be
  /// called with any lock of the caller held, including one that the function takes. Throws
  /// std::bad_alloc where memory is short and no call is pending.
  void WakeAt(uint64_t deadline_ns);

 private:
  using TimerId = base::TimerQueue::TimerId;  // 0: no timer

  void OnTimer();

  base::TimerQueue& timers_;
  const std::function<void()> callback_;
  // Taken under the caller's lock; only the timer queue's lock is taken under it.
  base::Mutex mutex_;
  // The timer whose callback has not taken mutex_ yet, and its time.
  TimerId pending_ NEREID_GUARDED_BY(mutex_) = 0;
  uint64_t pending_ns_ NEREID_GUARDED_BY(mutex_) = base::kNever;
  // The timer whose callback calls the function. A further one may be pending meanwhile.
  TimerId running_ NEREID_GUARDED_BY(mutex_) = 0;
};

}  // namespace nereid::schedule
