// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace nereid::test_plugins {

/// Runs tasks in parallel, each on its own thread; threads are reused. For plug-ins that answer
/// after Execute has returned.
class SenderThreads {
 public:
  /// Waits for the tasks.
  ~SenderThreads() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) {
      thread.join();
    }
  }

  /// Called by one thread at a time.
  void Run(std::function<void()> task) {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
    if (tasks_.size() > idle_) {
      threads_.emplace_back([this] { Work(); });
    } else {
      changed_.notify_one();
    }
  }

 private:
  void Work() {
    std::unique_lock lock(mutex_);
    while (true) {
      ++idle_;
      changed_.wait(lock, [this] { return stopping_ || !tasks_.empty(); });
      --idle_;
      if (tasks_.empty()) {
        return;
      }
      const std::function<void()> task = std::move(tasks_.back());
      tasks_.pop_back();
      lock.unlock();
      task();
      lock.lock();
    }
  }

  std::vector<std::thread> threads_;  // of the thread that calls Run, and the destructor
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::function<void()>> tasks_;  // guarded by mutex_
  size_t idle_ = 0;                           // guarded by mutex_: threads that wait for a task
  bool stopping_ = false;                     // guarded by mutex_
};

}  // namespace nereid::test_plugins
