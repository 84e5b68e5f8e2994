// SPDX-License-Identifier: Apache-2.0
#include "schedule/wake_timer.h"

namespace nereid::schedule {

using base::MutexLock;

WakeTimer::~WakeTimer() {
  for (;;) {
    Pending timer;
    {
      MutexLock lock(mutex_);
      if (pending_.empty() && running_.empty()) return;
      timer = pending_.empty() ? *running_.begin() : *pending_.begin();
    }
    timers_.Cancel(timer.second);  // waits for a callback that is running
    MutexLock lock(mutex_);
    running_.erase(timer);
    pending_.erase(timer);
  }
}

void WakeTimer::WakeAt(uint64_t deadline_ns) {
  if (deadline_ns == UINT64_MAX) return;
  MutexLock lock(mutex_);
  if (!pending_.empty() && pending_.begin()->first <= deadline_ns) return;
  // The callback must know its own entry, whose id is known only after Schedule returns. The
  // callback reads the entry under mutex_, which is held here until the id is filled in. The entry
  // is allocated first, so that no timer is scheduled that the destructor does not know.
  auto timer = std::make_shared<Pending>(deadline_ns, 0);
  std::set<Pending> entry = {*timer};
  timer->second = timers_.Schedule(deadline_ns, [this, timer] { OnTimer(*timer); });
  auto node = entry.extract(entry.begin());
  node.value() = *timer;
  pending_.insert(std::move(node));
}

void WakeTimer::OnTimer(const Pending& timer) {
  {
    MutexLock lock(mutex_);
    running_.insert(pending_.extract(timer));
  }
  callback_();
  MutexLock lock(mutex_);
  running_.erase(timer);
}

}  // namespace nereid::schedule
