// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.h"
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

  /// Runs `destroy` soon, on a reaper thread. Threads start as needed, kMaxThreads at most, and
  /// stay.
  void Post(std::function<void()> destroy);

 private:
  static constexpr size_t kMaxThreads = 16;

  /// The threads' function.
  void Run();
  base::Status StartThreadLocked() NEREID_REQUIRES(mutex_);

  const std::function<void()> when_done_;
  base::Mutex mutex_;
  base::ConditionVariable wake_;  // work_ has become longer, or stopping_ is set
  std::deque<std::function<void()>> work_ NEREID_GUARDED_BY(mutex_);
  size_t busy_ NEREID_GUARDED_BY(mutex_) = 0;  // threads that run a function
  bool stopping_ NEREID_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_ NEREID_GUARDED_BY(mutex_);  // grows until stopping_ is set
};

}  // namespace nereid::server
