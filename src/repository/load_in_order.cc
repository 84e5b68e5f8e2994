// SPDX-License-Identifier: Apache-2.0
#include "repository/load_in_order.h"

#include <utility>

#include "base/background.h"
#include "base/mutex.h"
#include "base/parallel.h"

namespace nereid::repository {

namespace {

using Results = std::map<ModelId, base::Result<LoadOutcome>>;

/// The loads that several threads carry out together.
class SharedLoads {
 public:
  using Load = std::function<base::Result<LoadOutcome>(const ModelId&)>;

  SharedLoads(LoadOrder order, const Load& load) : load_(load), order_(std::move(order)) {}

  /// Loads models until none is left. Every thread calls this once. The mutex is not held during a
  /// load.
  void Work() {
    base::MutexLock lock(mutex_);
    while (!order_.IsEmpty()) {
      const auto id = order_.Take();
      if (!id) {
        changed_.Wait(lock);
        continue;
      }
      lock.Unlock();
      auto loaded = load_(*id);
      lock.Lock();
      results_.emplace(*id, std::move(loaded));
      order_.Done(*id);
      changed_.NotifyAll();
    }
  }

  /// Returns the results; called after every thread has returned from Work.
  Results Take() {
    base::MutexLock lock(mutex_);
    return std::move(results_);
  }

 private:
  const Load& load_;
  base::Mutex mutex_;
  base::ConditionVariable changed_;
  LoadOrder order_ NEREID_GUARDED_BY(mutex_);
  Results results_ NEREID_GUARDED_BY(mutex_);
};

}  // namespace

std::map<ModelId, base::Result<LoadOutcome>> LoadInOrder(
    LoadOrder order, size_t threads,
    const std::function<base::Result<LoadOutcome>(const ModelId&)>& load) {
  SharedLoads loads(std::move(order), load);
  base::RunOnThreads("model-load", threads, [&loads] {
    const base::ScopedBackground background;
    loads.Work();
  });
  return loads.Take();
}

}  // namespace nereid::repository
