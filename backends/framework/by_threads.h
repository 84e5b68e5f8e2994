// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "base/mutex.h"

namespace nereid::framework {

/// What a framework needs to run one model on the CPU, by the number of threads of an execution,
/// for frameworks that fix the number when a model is opened. Entries are only added. Thread-safe.
template <typename T>
class ByThreads {
 public:
  /// Returns null if there is no entry.
  std::shared_ptr<T> Find(uint32_t threads) const {
    const base::MutexLock lock(mutex_);
    const auto found = entries_.find(threads);
    return found == entries_.end() ? nullptr : found->second;
  }

  void Add(uint32_t threads, std::shared_ptr<T> entry) {
    const base::MutexLock lock(mutex_);
    entries_.emplace(threads, std::move(entry));
  }

 private:
  mutable base::Mutex mutex_;
  std::map<uint32_t, std::shared_ptr<T>> entries_ NEREID_GUARDED_BY(mutex_);
};

}  // namespace nereid::framework
