// SPDX-License-Identifier: Apache-2.0
#include "schedule/wake_timer.h"

namespace nereid::schedule {

WakeTimer::~WakeTimer() {
  for (;;) {
    base::TimerQueue::TimerId id;
    {
      std::lock_guard lock(mutex_);
      if (pending_.empty() && running_.empty()) return;
      id = pending_.empty() ? *running_.begin() : pending_.begin()->second;
    }
    timers_.Cancel(id);  // waits for a callback that is running
    std::lock_guard lock(mutex_);
    running_.erase(id);
    std::erase_if(pending_, [id](const Pending& timer) { return timer.second == id; });
  }
}

void WakeTimer::WakeAt(uint64_t deadline_ns) {
  if (deadline_ns == UINT64_MAX) return;
  std::lock_guard lock(mutex_);
  if (!pending_.empty() && pending_.begin()->first <= deadline_ns) return;
  // The callback must know its own entry, whose id is known only after Schedule returns. The
  // callback reads the entry under mutex_, which is held here until the id is filled in.
  auto timer = std::make_shared<Pending>(deadline_ns, 0);
  timer->second = timers_.Schedule(deadline_ns, [this, timer] { OnTimer(*timer); });
  pending_.insert(*timer);
}

void WakeTimer::OnTimer(const Pending& timer) {
  base::TimerQueue::TimerId id;
  {
    std::lock_guard lock(mutex_);
    id = timer.second;
    pending_.erase(timer);
    running_.insert(id);
  }
  callback_();
  std::lock_guard lock(mutex_);
  running_.erase(id);
}

}  // namespace nereid::schedule
