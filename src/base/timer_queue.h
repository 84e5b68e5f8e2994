// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/status.h"

namespace nereid::base {

/// Calls functions at given times. They are called without any lock held and must not block for
/// long. Thread-safe.
class TimerQueue {
 public:
  using Callback = std::function<void()>;
  using TimerId = uint64_t;

  virtual ~TimerQueue() = default;

  /// Runs `callback` once, at or soon after `deadline_ns` of the queue's clock. May be called from
  /// any thread.
  virtual TimerId Schedule(uint64_t deadline_ns, Callback callback) = 0;

  /// Removes a timer. When Cancel returns, the callback either has finished or will never start.
  /// The exception is a call from inside that callback, which continues. May be called from any
  /// thread, but not with a lock held that the callback takes.
  virtual void Cancel(TimerId id) = 0;
};

/// A timer queue with its own thread, which is started by Start() or by the first timer.
class ThreadTimerQueue final : public TimerQueue {
 public:
  explicit ThreadTimerQueue(const Clock& clock = SteadyClock()) : clock_(clock) {}
  ~ThreadTimerQueue() override;

  /// Starts the thread. If Start() was not called or has failed, each Schedule() tries again;
  /// timers fire late until the system provides a thread. UNAVAILABLE if it provides none.
  Status Start();

  TimerId Schedule(uint64_t deadline_ns, Callback callback) override;
  void Cancel(TimerId id) override;

 private:
  // The deadline comes first, so that the map's order is the firing order.
  using Key = std::pair<uint64_t, TimerId>;
  void Run();
  Status StartLocked();

  const Clock& clock_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable callback_done_;
  std::map<Key, Callback> timers_;         // guarded by mutex_
  std::map<TimerId, uint64_t> deadlines_;  // guarded by mutex_
  TimerId next_id_ = 1;                    // guarded by mutex_
  TimerId running_ = 0;                    // guarded by mutex_
  bool stopping_ = false;                  // guarded by mutex_
  std::thread thread_;                     // guarded by mutex_ until joined
};

/// A timer queue for tests with a FakeClock. It fires only when RunDue() is called.
class ManualTimerQueue final : public TimerQueue {
 public:
  explicit ManualTimerQueue(const Clock& clock) : clock_(clock) {}
  TimerId Schedule(uint64_t deadline_ns, Callback callback) override;
  void Cancel(TimerId id) override;
  /// Runs every callback whose deadline has passed, in order of deadline. Returns how many ran.
  int RunDue();
  size_t size() const;

 private:
  const Clock& clock_;
  mutable std::mutex mutex_;
  std::map<std::pair<uint64_t, TimerId>, Callback> timers_;  // guarded by mutex_
  TimerId next_id_ = 1;                                      // guarded by mutex_
};

}  // namespace nereid::base
