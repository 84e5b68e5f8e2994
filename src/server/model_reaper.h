// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

#include "memory/process_heap.h"

namespace nereid::server {

/// Destroys models on a thread of its own. The last reference to a model often goes on one of the
/// model's own threads (with the last response), where its destructor could not wait for them.
class ModelReaper {
 public:
  /// `when_done` runs on that thread whenever there is nothing left to destroy: the memory of the
  /// models goes back to the system.
  explicit ModelReaper(std::function<void()> when_done = memory::ReturnFreeMemory)
      : when_done_(std::move(when_done)) {}
  /// Waits until everything handed over is destroyed.
  ~ModelReaper();

  /// Runs `destroy` soon. Any thread. The thread starts with the first call.
  void Post(std::function<void()> destroy);

 private:
  void Run();

  const std::function<void()> when_done_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> work_;  // guarded by mutex_
  bool stopping_ = false;                   // guarded by mutex_
  std::thread thread_;                      // guarded by mutex_ until joined
};

}  // namespace nereid::server
