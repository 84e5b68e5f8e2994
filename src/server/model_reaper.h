// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/status.h"
#include "memory/process_heap.h"

namespace nereid::server {

/// Destroys models on threads of its own. The last reference to a model is often dropped on one of
/// the model's own threads (with the last response), which its destructor must join. Several models
/// are destroyed at a time: a Python model takes more than a second to end its processes, and a
/// server with many models must stop within its exit timeout. Thread-safe.
class ModelReaper {
 public:
  /// Calls `when_done` on a reaper thread whenever nothing is left to destroy; the default returns
  /// the models' memory to the system.
  explicit ModelReaper(std::function<void()> when_done = memory::ReturnFreeMemory)
      : when_done_(std::move(when_done)) {}
  /// Waits until all posted functions have run.
  ~ModelReaper();

  /// Starts the first thread, so that a lack of threads is reported early. Without Start, the first
  /// Post starts it, and posted functions wait while the system has no thread.
  base::Status Start();

  /// Runs `destroy` soon, on a reaper thread. Threads start as needed, kMostThreads at most, and
  /// stay.
  void Post(std::function<void()> destroy);

 private:
  static constexpr size_t kMostThreads = 16;

  void Run();
  base::Status StartThreadLocked();

  const std::function<void()> when_done_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> work_;  // guarded by mutex_
  size_t busy_ = 0;                         // guarded by mutex_: threads that run a function
  bool stopping_ = false;                   // guarded by mutex_; no thread starts once it is set
  std::vector<std::thread> threads_;        // guarded by mutex_ until stopping_
};

}  // namespace nereid::server
