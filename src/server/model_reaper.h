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

/// Destroys models on threads of its own. The last reference to a model often goes on one of the
/// model's own threads (with the last response), where its destructor could not wait for them.
/// Several at once: a Python model takes more than a second to end its processes, and a server of
/// many must still end within its exit timeout.
class ModelReaper {
 public:
  /// `when_done` runs on one of them whenever there is nothing left to destroy: the memory of the
  /// models goes back to the system.
  explicit ModelReaper(std::function<void()> when_done = memory::ReturnFreeMemory)
      : when_done_(std::move(when_done)) {}
  /// Waits until everything handed over is destroyed.
  ~ModelReaper();

  /// Starts the first thread. Before anything is handed over; not called, the first Post does it,
  /// and what is handed over waits while the system gives no thread.
  base::Status Start();

  /// Runs `destroy` soon, beside others. Any thread. Threads start as they are needed and stay.
  void Post(std::function<void()> destroy);

 private:
  static constexpr size_t kMostThreads = 16;

  void Run();
  base::Status StartThreadLocked();

  const std::function<void()> when_done_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> work_;  // guarded by mutex_
  size_t busy_ = 0;                         // guarded by mutex_: threads that destroy something
  bool stopping_ = false;                   // guarded by mutex_; no thread starts after it
  std::vector<std::thread> threads_;        // guarded by mutex_ until stopping_
};

}  // namespace nereid::server
