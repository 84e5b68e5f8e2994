// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/stages.h"

namespace nereid::base {

/// What the tasks of a pool do, for the watchdog and for the scheduling of its threads.
enum class PoolWork : uint8_t {
  kMayWait,         // for files, models, other servers: a pool whose threads all wait is only named
  kInBackground,    // likewise, and no request waits for them; see ScopedBackground
  kComputes,        // nothing but computing: such a pool must move
  kMostlyComputes,  // likewise, but it reads a file now and then: it is only named
};

/// A pool of threads for the few operations that block, so that event loops do not have to (loading
/// a model may take minutes). The pool starts a thread when a task finds none idle, up to
/// `max_threads`, and keeps it. Further tasks wait in order. Thread-safe, but a task must not call
/// Stop() or the destructor.
class BlockingWorkers final : private Stage {
 public:
  /// A task whose result may become unwanted while it waits for a thread, because its client has
  /// disconnected.
  struct Task {
    std::function<void()> run;
    /// Returns whether the task is no longer wanted. Any thread may call it while the task waits,
    /// and again when a thread takes the task after a wait. Must be quick.
    std::function<bool()> is_abandoned;
    /// Called instead of `run`, by the thread that finds the task abandoned. Must not block.
    std::function<void()> drop;
  };

  /// `thread_name` is shown by top and by debuggers. `max_threads` is at least 1. At most
  /// `max_waiting` tasks wait for a thread. Threads that compute give way to others
  /// (GiveWayToOtherThreads).
  BlockingWorkers(std::string thread_name, size_t max_threads, size_t max_waiting = SIZE_MAX,
                  PoolWork work = PoolWork::kMayWait)
      : thread_name_(std::move(thread_name)),
        max_threads_(max_threads),
        max_waiting_(max_waiting),
        work_(work),
        listed_({StageKind::kPool, thread_name_, work == PoolWork::kComputes}, *this) {}
  /// Waits until every task has run, including the tasks that have not begun.
  ~BlockingWorkers() override;
  BlockingWorkers(const BlockingWorkers&) = delete;
  BlockingWorkers& operator=(const BlockingWorkers&) = delete;

  /// Runs `task` soon on one of the threads. Returns false, without running it, after Stop() or
  /// when the pool has no thread and the system provides none.
  bool Run(std::function<void()> task) { return Run(Task{std::move(task), nullptr, nullptr}); }
  /// Does the same, and also returns false when `max_waiting` tasks wait already. A task that
  /// begins at once is not asked whether it is abandoned.
  bool Run(Task task);

  /// Discards the tasks that have not begun, without calling `drop`, and waits for the others.
  void Stop();

 private:
  struct Waiting {
    Task task;
    bool has_waited;  // no thread was free for it
  };

  /// A pool is blocked while tasks wait and no thread takes one.
  std::optional<StageSample> Sample(uint64_t now_ns) override;
  void Work();
  /// Queues `task`, or returns false.
  bool Accept(Task* task) NEREID_REQUIRES(mutex_);
  /// Starts one more thread. Returns false at `max_threads` or when the system provides none.
  bool AddThread() NEREID_REQUIRES(mutex_);
  /// Returns whether to look for abandoned tasks now: a look takes time in proportion to the queue.
  bool MayHaveAbandoned() NEREID_REQUIRES(mutex_);
  /// Takes the abandoned tasks out of the queue.
  std::deque<Waiting> TakeAbandoned() NEREID_REQUIRES(mutex_);
  void End(bool drop_waiting);

  const std::string thread_name_;
  const size_t max_threads_;
  const size_t max_waiting_;
  const PoolWork work_;
  Mutex mutex_;
  ConditionVariable wake_;
  std::deque<Waiting> tasks_ NEREID_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_ NEREID_GUARDED_BY(mutex_);
  size_t added_ NEREID_GUARDED_BY(mutex_) = 0;  // tasks since the last look for abandoned ones
  size_t idle_ NEREID_GUARDED_BY(mutex_) = 0;
  bool stopping_ NEREID_GUARDED_BY(mutex_) = false;
  uint64_t taken_ NEREID_GUARDED_BY(mutex_) = 0;  // tasks that a thread has taken
  // At the last Sample().
  uint64_t seen_taken_ NEREID_GUARDED_BY(mutex_) = 0;
  uint64_t blocked_since_ns_ NEREID_GUARDED_BY(mutex_) = 0;
  const StageList::Entry listed_;  // last, so that no Sample() sees a part of the object
};

}  // namespace nereid::base
