// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace nereid::base {

/// Threads for the few operations that block (loading a model may take minutes), so that event
/// loops do not. A thread is started when a task finds none idle, up to `max_threads`, and then
/// stays; further tasks wait in order. Thread-safe, but Stop() and the destructor must not be
/// called by a task.
class BlockingWorkers {
 public:
  /// A task for somebody who may go away while it waits for a thread.
  struct Task {
    std::function<void()> run;
    /// Asked while it waits, and when a thread takes it after that, by any thread: must be quick.
    std::function<bool()> is_abandoned;
    /// Called in the place of `run` by whoever sees that it is abandoned: must not block.
    std::function<void()> drop;
  };

  /// `thread_name` shows in top and in a debugger. `max_threads` is at least 1. At most
  /// `max_waiting` tasks wait for a thread.
  BlockingWorkers(std::string thread_name, size_t max_threads, size_t max_waiting = SIZE_MAX)
      : thread_name_(std::move(thread_name)),
        max_threads_(max_threads),
        max_waiting_(max_waiting) {}
  /// Waits for all tasks, also for those that have not begun.
  ~BlockingWorkers();
  BlockingWorkers(const BlockingWorkers&) = delete;
  BlockingWorkers& operator=(const BlockingWorkers&) = delete;

  /// Runs `task` soon on one of the threads. False, without running it, after Stop(), and while
  /// there is no thread and the system gives none.
  bool Run(std::function<void()> task) { return Run(Task{std::move(task), nullptr, nullptr}); }
  /// The same, and false where too many wait. A task that begins at once is not asked whether it is
  /// abandoned.
  bool Run(Task task);

  /// Drops what has not begun, waits for the rest.
  void Stop();

 private:
  struct Waiting {
    Task task;
    bool has_waited;  // no thread was free for it
  };

  void Work();
  /// Queues the task, or returns false. mutex_ is held.
  bool Accept(Task* task);
  /// Starts one more thread; false where that cannot or need not be done. mutex_ is held.
  bool AddThread();
  /// Takes what is abandoned out of the queue. mutex_ is held.
  std::deque<Waiting> TakeAbandoned();
  void End(bool drop_waiting);

  const std::string thread_name_;
  const size_t max_threads_;
  const size_t max_waiting_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Waiting> tasks_;         // guarded by mutex_
  std::vector<std::thread> threads_;  // guarded by mutex_
  size_t idle_ = 0;                   // guarded by mutex_
  bool stopping_ = false;             // guarded by mutex_
};

}  // namespace nereid::base
