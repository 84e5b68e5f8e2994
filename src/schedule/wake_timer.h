// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "base/timer_queue.h"

namespace nereid::schedule {

/// Calls one function whenever a wished-for time has come. Wishes are cheap: one that lies behind
/// an earlier one is already granted, since whoever is woken looks at everything and wishes again.
/// The function runs with no lock held. Thread-safe.
class WakeTimer {
 public:
  WakeTimer(base::TimerQueue& timers, std::function<void()> callback)
      : timers_(timers), callback_(std::move(callback)) {}
  /// When it returns, the function is not running and never will. No wish may be made any more.
  ~WakeTimer();
  WakeTimer(const WakeTimer&) = delete;
  WakeTimer& operator=(const WakeTimer&) = delete;

  /// Sees to it that the function is called at or before `deadline_ns`, but not before some wish is
  /// due. UINT64_MAX: never. May be called with the caller's lock held, also with one that the
  /// function takes.
  void WakeAt(uint64_t deadline_ns);

 private:
  using Pending = std::pair<uint64_t, base::TimerQueue::TimerId>;  // deadline, id

  void OnTimer(const Pending& timer);

  base::TimerQueue& timers_;
  const std::function<void()> callback_;
  std::mutex mutex_;                             // leaf, but for the timer queue's own
  std::set<Pending> pending_;                    // guarded by mutex_
  std::set<base::TimerQueue::TimerId> running_;  // guarded by mutex_: their callbacks have begun
};

}  // namespace nereid::schedule
