// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace nereid::server {

/// Destroys models on threads of its own. The last reference to a model often goes on one of the
/// model's own threads (with the last response), where its destructor could not wait for them.
/// Several at once: a Python model takes more than a second to end its processes, and a server of
/// many must still end within its exit timeout.
class ModelReaper {
 public:
  ModelReaper() = default;
  /// Waits until everything handed over is destroyed.
  ~ModelReaper();

  /// Runs `destroy` soon, beside others. Any thread. Threads start as they are needed and stay.
  void Post(std::function<void()> destroy);

 private:
  static constexpr size_t kMostThreads = 16;

  void Run();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> work_;  // guarded by mutex_
  size_t idle_ = 0;                         // guarded by mutex_: threads that wait for work
  bool stopping_ = false;                   // guarded by mutex_; no thread starts after it
  std::vector<std::thread> threads_;        // guarded by mutex_ until stopping_
};

}  // namespace nereid::server
