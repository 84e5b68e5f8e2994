// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace nereid::server {

/// Destroys models on a thread of its own. The last reference to a model often goes on one of the
/// model's own threads (with the last response), where its destructor could not wait for them.
class ModelReaper {
 public:
  ModelReaper() = default;
  /// Waits until everything handed over is destroyed.
  ~ModelReaper();

  /// Runs `destroy` soon. Any thread. The thread starts with the first call.
  void Post(std::function<void()> destroy);

 private:
  void Run();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> work_;  // guarded by mutex_
  bool stopping_ = false;                   // guarded by mutex_
  std::thread thread_;                      // guarded by mutex_ until joined
};

}  // namespace nereid::server
