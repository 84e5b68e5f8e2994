// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>

#include "ensemble/ensemble_run.h"

namespace nereid::ensemble {

/// Whoever waits for its turn at a step.
class StepWaiter {
 public:
  virtual ~StepWaiter() = default;
  /// There is room: the start has begun to count. No lock is held.
  virtual void OnTurn(EnsembleRun::StepStart start) = 0;
};

/// How many requests of one step are under way, over all requests of the ensemble: bounded. Nobody
/// blocks: a start beyond the bound waits here, in the order of arrival. Thread-safe.
class StepLimit {
 public:
  explicit StepLimit(size_t limit) : limit_(limit) {}

  /// Whether the step may be started now; it counts then until Release. Otherwise the start is
  /// taken, and comes back with OnTurn.
  bool Acquire(const std::shared_ptr<StepWaiter>& waiter, EnsembleRun::StepStart& start);
  /// One is no longer under way. Gives the turn to those who wait, on this thread; called from
  /// inside OnTurn it returns at once, and the outer call goes on.
  void Release();
  /// Takes back what waits for this waiter. A turn that is on its way is not stopped by that.
  std::vector<EnsembleRun::StepStart> Withdraw(const StepWaiter& waiter);

 private:
  struct Waiting {
    std::shared_ptr<StepWaiter> waiter;
    EnsembleRun::StepStart start;
  };

  const size_t limit_;
  std::mutex mutex_;             // leaf
  size_t inflight_ = 0;          // guarded by mutex_
  std::deque<Waiting> waiting_;  // guarded by mutex_
  bool giving_turns_ = false;    // guarded by mutex_
};

}  // namespace nereid::ensemble
