// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>

#include "base/mutex.h"

namespace nereid::model {

/// Lets the instances of a model on one GPU execute one after another, for a backend with the
/// policy TRITONBACKEND_EXECUTION_DEVICE_BLOCKING. Triton has one thread for these instances, so a
/// plug-in may rely on it that its calls for a device do not overlap. Thread-safe.
class DeviceTurn {
 public:
  DeviceTurn() = default;
  DeviceTurn(const DeviceTurn&) = delete;
  DeviceTurn& operator=(const DeviceTurn&) = delete;

  /// Calls `execute` while no other call runs.
  template <typename Execute>
  void Run(Execute&& execute) {
    const base::MutexLock lock(mutex_);
    ++executions_;
    std::forward<Execute>(execute)();
  }

  /// Returns how many calls have begun.
  uint64_t executions() const {
    const base::MutexLock lock(mutex_);
    return executions_;
  }

 private:
  mutable base::Mutex mutex_;
  uint64_t executions_ NEREID_GUARDED_BY(mutex_) = 0;
};

}  // namespace nereid::model
