// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "ensemble/ensemble_run.h"

namespace nereid::ensemble {

/// Waits for its turn at a step.
class StepWaiter {
 public:
  virtual ~StepWaiter() = default;
  /// Called without a lock when there is room; the start counts as in progress already.
  virtual void OnTurn(EnsembleRun::StepStart start) = 0;
};

/// Limits how many requests of one step are in progress, over all requests of the ensemble. No
/// thread blocks: a start beyond the limit waits here, in order of arrival. Thread-safe.
class StepLimit {
 public:
  explicit StepLimit(size_t limit) : limit_(limit) {}

  /// Returns true if the step may start now; it counts until Release. Otherwise takes the start,
  /// which comes back by OnTurn or Withdraw.
  bool Acquire(const std::shared_ptr<StepWaiter>& waiter, EnsembleRun::StepStart& start);
  /// Ends one request in progress and gives the turn to waiters, on this thread. A call from inside
  /// OnTurn returns at once, and the outer call continues. Must be called without a lock.
  void Release();
  /// Returns the starts that wait for this waiter and removes them. Does not stop an OnTurn in
  /// progress.
  std::vector<EnsembleRun::StepStart> Withdraw(const StepWaiter& waiter);

 private:
  struct Waiting {
    std::shared_ptr<StepWaiter> waiter;
    EnsembleRun::StepStart start;
  };

  const size_t limit_;
  base::Mutex mutex_;  // taken under EnsembleRequest::mutex_; nothing is called under it
  size_t inflight_ NEREID_GUARDED_BY(mutex_) = 0;
  std::deque<Waiting> waiting_ NEREID_GUARDED_BY(mutex_);
  // Whether a thread is in the loop of Release.
  bool giving_turns_ NEREID_GUARDED_BY(mutex_) = false;
};

}  // namespace nereid::ensemble
