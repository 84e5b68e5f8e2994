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
  /// `thread_name` shows in top and in a debugger. `max_threads` is at least 1. `max_waiting`: how
  /// many tasks may wait for a thread.
  BlockingWorkers(std::string thread_name, size_t max_threads, size_t max_waiting = SIZE_MAX)
      : thread_name_(std::move(thread_name)),
        max_threads_(max_threads),
        max_waiting_(max_waiting) {}
  /// Waits for all tasks, also for those that have not begun.
  ~BlockingWorkers();
  BlockingWorkers(const BlockingWorkers&) = delete;
  BlockingWorkers& operator=(const BlockingWorkers&) = delete;

  /// Runs `task` soon on one of the threads. False, without running it, after Stop(), or when as
  /// many tasks wait as may.
  bool Run(std::function<void()> task);

  /// Drops what has not begun, waits for the rest.
  void Stop();

 private:
  void Work();
  void End(bool drop_waiting);

  const std::string thread_name_;
  const size_t max_threads_;
  const size_t max_waiting_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> tasks_;  // guarded by mutex_
  std::vector<std::thread> threads_;         // guarded by mutex_
  size_t idle_ = 0;                          // guarded by mutex_
  bool stopping_ = false;                    // guarded by mutex_
};

}  // namespace nereid::base
