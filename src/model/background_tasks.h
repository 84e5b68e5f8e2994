// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <string>
#include <thread>
#include <utility>

#include "base/background.h"
#include "base/mutex.h"
#include "base/threads.h"

namespace nereid::model {

/// Runs functions on threads of their own, because they wait for others. Thread-safe.
class BackgroundTasks {
 public:
  BackgroundTasks() = default;
  /// Waits for all functions to return.
  ~BackgroundTasks() {
    std::list<Task> tasks;
    {
      base::MutexLock lock(mutex_);
      tasks.swap(tasks_);
    }
    for (Task& task : tasks) task.thread.join();
  }
  BackgroundTasks(const BackgroundTasks&) = delete;
  BackgroundTasks& operator=(const BackgroundTasks&) = delete;

  /// Runs `body` on a new thread. Returns UNAVAILABLE, without running `body`, if the system has no
  /// thread for it. Joins threads whose functions have returned.
  base::Status Start(const std::string& name, std::function<void()> body) {
    base::MutexLock lock(mutex_);
    for (auto task = tasks_.begin(); task != tasks_.end();) {
      if (!task->done) {
        ++task;
        continue;
      }
      task->thread.join();
      task = tasks_.erase(task);
    }
    Task& task = tasks_.emplace_back();
    auto thread = base::StartThread(name, [&task, body = std::move(body)] {
      const base::ScopedBackground background;
      body();
      task.done = true;
    });
    if (!thread.ok()) {
      tasks_.pop_back();
      return thread.status();
    }
    task.thread = std::move(thread).value();
    return base::Status::Ok();
  }

 private:
  struct Task {
    std::atomic<bool> done{false};
    std::thread thread;
  };

  base::Mutex mutex_;
  std::list<Task> tasks_ NEREID_GUARDED_BY(mutex_);
};

}  // namespace nereid::model
