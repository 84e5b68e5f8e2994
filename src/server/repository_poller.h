// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <thread>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/status.h"
#include "base/timer_queue.h"

namespace nereid::server {

/// Calls a function periodically, each time one period after the last call returned, or earlier if
/// that call has asked for it, on a thread of its own: a poll loads models and takes long, so it
/// must not run on the timers' thread.
class RepositoryPoller {
 public:
  /// Returns when the next call should be at the latest; nothing: after the period.
  using Poll = std::function<std::optional<uint64_t>()>;

  /// `clock` is the clock of `timers`. Both, and what `poll` uses, must outlive the poller. Calls
  /// begin after Start().
  RepositoryPoller(Poll poll, uint64_t period_ns, const base::Clock& clock,
                   base::TimerQueue& timers);
  /// Waits for a call in progress.
  ~RepositoryPoller();

  /// Starts the thread; must be called once. Returns UNAVAILABLE if the system has no thread for
  /// it.
  base::Status Start();

 private:
  void Run();

  const Poll poll_;
  const uint64_t period_ns_;
  const base::Clock& clock_;
  base::TimerQueue& timers_;
  base::Mutex mutex_;
  base::ConditionVariable wake_;  // due_ or stopping_ is set
  bool due_ NEREID_GUARDED_BY(mutex_) = false;
  bool stopping_ NEREID_GUARDED_BY(mutex_) = false;
  base::TimerQueue::TimerId timer_{};  // used by the thread, then by the destructor
  std::thread thread_;
};

}  // namespace nereid::server
