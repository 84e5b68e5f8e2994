// SPDX-License-Identifier: Apache-2.0
#include "server/repository_poller.h"

#include <algorithm>
#include <utility>

#include "base/background.h"
#include "base/threads.h"

namespace nereid::server {

RepositoryPoller::RepositoryPoller(Poll poll, uint64_t period_ns, const base::Clock& clock,
                                   base::TimerQueue& timers)
    : poll_(std::move(poll)), period_ns_(period_ns), clock_(clock), timers_(timers) {}

base::Status RepositoryPoller::Start() {
  NEREID_ASSIGN_OR_RETURN(thread_, base::StartThread("repo-poll", [this] { Run(); }));
  return base::Status::Ok();
}

RepositoryPoller::~RepositoryPoller() {
  {
    base::MutexLock lock(mutex_);
    stopping_ = true;
  }
  wake_.NotifyAll();
  if (!thread_.joinable()) return;
  thread_.join();
  timers_.Cancel(timer_);
}

void RepositoryPoller::Run() {
  const base::ScopedBackground background;
  std::optional<uint64_t> wanted_ns;
  base::MutexLock lock(mutex_);
  while (!stopping_) {
    const uint64_t regular_ns = clock_.NowNs() + period_ns_;
    // The callback takes mutex_, which is held here: it can only run once Wait has released it.
    timer_ = timers_.Schedule(std::min(regular_ns, wanted_ns.value_or(regular_ns)), [this] {
      base::MutexLock fired(mutex_);
      due_ = true;
      wake_.NotifyAll();
    });
    while (!due_ && !stopping_) wake_.Wait(lock);
    if (!std::exchange(due_, false)) continue;
    lock.Unlock();
    wanted_ns = poll_();
    lock.Lock();
  }
}

}  // namespace nereid::server
