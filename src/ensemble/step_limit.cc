// SPDX-License-Identifier: Apache-2.0
#include "ensemble/step_limit.h"

#include <utility>

namespace nereid::ensemble {

bool StepLimit::Acquire(const std::shared_ptr<StepWaiter>& waiter, EnsembleRun::StepStart& start) {
  base::MutexLock lock(mutex_);
  if (inflight_ < limit_ && waiting_.empty()) {
    ++inflight_;
    return true;
  }
  waiting_.push_back({waiter, std::move(start)});
  return false;
}

void StepLimit::Release() {
  base::MutexLock lock(mutex_);
  --inflight_;
  if (giving_turns_) return;
  giving_turns_ = true;
  while (inflight_ < limit_ && !waiting_.empty()) {
    Waiting next = std::move(waiting_.front());
    waiting_.pop_front();
    ++inflight_;
    lock.Unlock();
    next.waiter->OnTurn(std::move(next.start));
    next.waiter.reset();
    lock.Lock();
  }
  giving_turns_ = false;
}

std::vector<EnsembleRun::StepStart> StepLimit::Withdraw(const StepWaiter& waiter) {
  std::vector<EnsembleRun::StepStart> withdrawn;
  // Declared before the lock: perhaps the last references.
  std::vector<std::shared_ptr<StepWaiter>> waiters;
  base::MutexLock lock(mutex_);
  for (Waiting& waiting : waiting_) {
    if (waiting.waiter.get() != &waiter) continue;
    withdrawn.push_back(std::move(waiting.start));
    waiters.push_back(std::move(waiting.waiter));
  }
  std::erase_if(waiting_, [](const Waiting& waiting) { return waiting.waiter == nullptr; });
  return withdrawn;
}

}  // namespace nereid::ensemble
