// SPDX-License-Identifier: Apache-2.0
#include "schedule/wake_timer.h"

namespace nereid::schedule {

using base::MutexLock;

WakeTimer::~WakeTimer() {
  for (;;) {
    TimerId timer = 0;
    {
      MutexLock lock(mutex_);
      timer = running_ != 0 ? running_ : pending_;
    }
    if (timer == 0) return;
    timers_.Cancel(timer);  // waits for a callback that is running
    MutexLock lock(mutex_);
    if (pending_ == timer) pending_ = 0;
    if (running_ == timer) running_ = 0;
  }
}

void WakeTimer::WakeAt(uint64_t deadline_ns) {
  if (deadline_ns == base::kNever) return;
  MutexLock lock(mutex_);
  if (pending_ == 0) {
    // The callback takes mutex_ first, so it finds the timer.
    pending_ = timers_.Schedule(deadline_ns, [this] { OnTimer(); });
    pending_ns_ = deadline_ns;
    return;
  }
  if (pending_ns_ <= deadline_ns) return;
  // A timer whose callback has begun cannot be moved. The callback waits for mutex_, so its call of
  // the function comes at once.
  if (timers_.Move(pending_, deadline_ns)) pending_ns_ = deadline_ns;
}

void WakeTimer::OnTimer() {
  {
    MutexLock lock(mutex_);
    running_ = std::exchange(pending_, 0);
  }
  callback_();
  MutexLock lock(mutex_);
  running_ = 0;
}

}  // namespace nereid::schedule
