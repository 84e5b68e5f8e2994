// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "base/mutex.h"

namespace nereid::base {

/// A value that is never modified, only replaced as a whole. Readers keep the version that they
/// have loaded. The lock is held only while a pointer is copied. (std::atomic<std::shared_ptr> of
/// GCC 12 spins on a bit for the same work, and its load is formally a data race.) Thread-safe.
template <typename T>
class SharedSnapshot {
 public:
  explicit SharedSnapshot(std::shared_ptr<const T> value) : value_(std::move(value)) {}

  /// Returns the current value. It stays valid while the caller holds the pointer.
  std::shared_ptr<const T> Load() const {
    const MutexLock lock(mutex_);
    return value_;
  }

  void Store(std::shared_ptr<const T> value) {
    // The old value is destroyed with the parameter, after the lock is released: its destructor may
    // be expensive.
    const MutexLock lock(mutex_);
    value_.swap(value);
  }

 private:
  mutable Mutex mutex_;
  std::shared_ptr<const T> value_ NEREID_GUARDED_BY(mutex_);
};

}  // namespace nereid::base
