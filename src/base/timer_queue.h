// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/stages.h"
#include "base/status.h"

namespace nereid::base {

/// Calls functions at given times, one after the other. They are called without any lock held and
/// must not block for long. Thread-safe.
class TimerQueue {
 public:
  using Callback = std::function<void()>;
  using TimerId = uint64_t;

  virtual ~TimerQueue() = default;

  /// Runs `callback` once, at or soon after `deadline_ns` of the queue's clock. May be called from
  /// any thread.
  virtual TimerId Schedule(uint64_t deadline_ns, Callback callback) = 0;

  /// Changes the time of a timer that has not begun. Returns false, and does nothing, if its
  /// callback has begun or the timer was removed. Waits for no callback and takes no memory. May be
  /// called from any thread, with any lock held.
  virtual bool Move(TimerId id, uint64_t deadline_ns) noexcept = 0;

  /// Removes a timer. When Cancel returns, the callback either has finished or will never start.
  /// The exception is a call from inside that callback, which continues. May be called from any
  /// thread, but not with a lock held that the callback takes.
  virtual void Cancel(TimerId id) = 0;
};

/// A timer queue with its own thread, which is started by Start() or by the first timer.
class ThreadTimerQueue final : public TimerQueue, public Stage {
 public:
  explicit ThreadTimerQueue(const Clock& clock = SteadyClock()) : clock_(clock) {}
  ~ThreadTimerQueue() override;

  /// Starts the thread. If Start() was not called or has failed, each Schedule() tries again;
  /// timers fire late until the system provides a thread. UNAVAILABLE if it provides none.
  Status Start();

  TimerId Schedule(uint64_t deadline_ns, Callback callback) override;
  bool Move(TimerId id, uint64_t deadline_ns) noexcept override;
  void Cancel(TimerId id) override;

  /// The queue is blocked while a timer is overdue or a callback does not return. `now_ns` is the
  /// time of the queue's clock. The owner lists the queue as a stage.
  std::optional<StageSample> Sample(uint64_t now_ns) override;

 private:
  // The deadline comes first, so that the map's order is the firing order.
  using Key = std::pair<uint64_t, TimerId>;
  void Run();
  Status StartLocked() NEREID_REQUIRES(mutex_);
  bool IsFirst(uint64_t deadline_ns) const NEREID_REQUIRES(mutex_) {
    return timers_.empty() || deadline_ns < timers_.begin()->first.first;
  }

  const Clock& clock_;
  Mutex mutex_;
  ConditionVariable wake_;
  ConditionVariable callback_done_;
  std::map<Key, Callback> timers_ NEREID_GUARDED_BY(mutex_);
  std::map<TimerId, uint64_t> deadlines_ NEREID_GUARDED_BY(mutex_);
  TimerId next_id_ NEREID_GUARDED_BY(mutex_) = 1;
  TimerId running_ NEREID_GUARDED_BY(mutex_) = 0;
  uint64_t running_since_ns_ NEREID_GUARDED_BY(mutex_) = 0;  // valid while running_ is not 0
  bool stopping_ NEREID_GUARDED_BY(mutex_) = false;
  std::thread thread_ NEREID_GUARDED_BY(mutex_);  // until joined
};

/// A timer queue for tests with a FakeClock. It fires only when RunDue() is called.
class ManualTimerQueue final : public TimerQueue {
 public:
  explicit ManualTimerQueue(const Clock& clock) : clock_(clock) {}
  TimerId Schedule(uint64_t deadline_ns, Callback callback) override;
  bool Move(TimerId id, uint64_t deadline_ns) noexcept override;
  void Cancel(TimerId id) override;
  /// Runs every callback whose deadline has passed, in order of deadline. Returns how many ran.
  int RunDue();
  size_t size() const;

 private:
  const Clock& clock_;
  mutable Mutex mutex_;
  std::map<std::pair<uint64_t, TimerId>, Callback> timers_ NEREID_GUARDED_BY(mutex_);
  TimerId next_id_ NEREID_GUARDED_BY(mutex_) = 1;
};

}  // namespace nereid::base
