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

/// Calls functions at times. Functions run without any lock held and must not block long.
class TimerQueue {
 public:
  using Callback = std::function<void()>;
  using TimerId = uint64_t;

  virtual ~TimerQueue() = default;

  /// Runs `callback` once, at or soon after `deadline_ns` of the queue's clock. Any thread.
  virtual TimerId Schedule(uint64_t deadline_ns, Callback callback) = 0;

  /// Forgets a timer. When it returns, the callback has either run to its end or will never start
  /// (except when called from inside that callback, which goes on). Any thread; must not be called
  /// with a lock held that the callback takes.
  virtual void Cancel(TimerId id) = 0;
};

/// A timer queue with a thread of its own, which starts with Start() or the first timer.
class ThreadTimerQueue final : public TimerQueue {
 public:
  explicit ThreadTimerQueue(const Clock& clock = SteadyClock()) : clock_(clock) {}
  ~ThreadTimerQueue() override;

  /// Starts the thread. Where it is not called, or has failed, each Schedule tries, and a timer
  /// fires late if the system has no thread for it.
  Status Start();

  TimerId Schedule(uint64_t deadline_ns, Callback callback) override;
  void Cancel(TimerId id) override;

 private:
  using Key = std::pair<uint64_t, TimerId>;  // deadline first: the map's order is the firing order
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

/// Fires what is due when told to; for tests, with a FakeClock.
class ManualTimerQueue final : public TimerQueue {
 public:
  explicit ManualTimerQueue(const Clock& clock) : clock_(clock) {}
  TimerId Schedule(uint64_t deadline_ns, Callback callback) override;
  void Cancel(TimerId id) override;
  /// Runs every callback whose time has come, in order of time. Returns how many ran.
  int RunDue();
  size_t size() const;

 private:
  const Clock& clock_;
  mutable std::mutex mutex_;
  std::map<std::pair<uint64_t, TimerId>, Callback> timers_;  // guarded by mutex_
  TimerId next_id_ = 1;                                      // guarded by mutex_
};

}  // namespace nereid::base
