// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace nereid::frontend::grpc {

/// Threads for the operations that take long (loading and unloading models), started when needed.
/// Thread-safe.
class BlockingWorkers {
 public:
  BlockingWorkers() = default;
  ~BlockingWorkers() { Stop(); }

  /// Runs `task` soon on a thread of its own. False after Stop().
  bool Run(std::function<void()> task);

  /// Drops what has not begun, waits for the rest.
  void Stop();

 private:
  void Work();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> tasks_;  // guarded by mutex_
  std::vector<std::thread> threads_;         // guarded by mutex_
  size_t idle_ = 0;                          // guarded by mutex_
  bool stopping_ = false;                    // guarded by mutex_
};

}  // namespace nereid::frontend::grpc
