// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <thread>

#include "base/mutex.h"
#include "nereid/backend/error.h"
#include "python/process.h"

namespace nereid::python {

/// A thread that starts all workers. A worker asks the kernel to kill it when its parent ends, and
/// for the kernel the parent is the thread that started the worker. This thread lives as long as
/// the backend, so that workers die with the server only.
class Spawner {
 public:
  Spawner() = default;
  Spawner(const Spawner&) = delete;
  Spawner& operator=(const Spawner&) = delete;
  ~Spawner();

  /// Starts the thread. Called once.
  backend::Error Start();

  /// Starts a process and waits until it runs. Thread-safe.
  backend::Error Spawn(const Command& command, Process* process) NEREID_EXCLUDES(mutex_);

 private:
  struct Order {
    const Command* command = nullptr;
    Process* process = nullptr;
    backend::Error result;
    bool done = false;
  };

  void Run() NEREID_EXCLUDES(mutex_);

  base::Mutex mutex_;
  base::ConditionVariable changed_;
  Order* order_ NEREID_GUARDED_BY(mutex_) = nullptr;
  bool stop_ NEREID_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace nereid::python
