// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace nereid::frontend::http {

/// Threads for the few operations that block (loading a model may take minutes), so that event
/// loops do not. Started on demand; a thread ends when there is nothing left to do. Thread-safe.
class BlockingWorker {
 public:
  explicit BlockingWorker(size_t max_threads) : max_threads_(max_threads) {}
  /// Waits for all operations.
  ~BlockingWorker();

  void Run(std::function<void()> operation);

 private:
  void Work();

  const size_t max_threads_;
  std::mutex mutex_;
  std::deque<std::function<void()>> waiting_;  // guarded by mutex_
  size_t working_ = 0;                // guarded by mutex_; threads that will look at waiting_ again
  std::vector<std::thread> threads_;  // guarded by mutex_; some may have ended
};

}  // namespace nereid::frontend::http
