// SPDX-License-Identifier: Apache-2.0
#include "base/timer_queue.h"

#include <algorithm>
#include <new>

#include "base/adopted_lock.h"
#include "base/byte_budget.h"
#include "base/duration.h"
#include "base/log.h"
#include "base/threads.h"

namespace nereid::base {

ThreadTimerQueue::~ThreadTimerQueue() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  wake_.NotifyAll();
  if (thread_.joinable()) thread_.join();
}

Status ThreadTimerQueue::Start() {
  const MutexLock lock(mutex_);
  return StartLocked();
}

Status ThreadTimerQueue::StartLocked() {
  if (thread_.joinable() || stopping_) return Status::Ok();
  NEREID_ASSIGN_OR_RETURN(thread_, StartThread("timers", [this] { Run(); }));
  return Status::Ok();
}

TimerQueue::TimerId ThreadTimerQueue::Schedule(uint64_t deadline_ns, Callback callback) {
  TimerId id;
  bool first;
  {
    const MutexLock lock(mutex_);
    id = next_id_++;
    first = IsFirst(deadline_ns);
    // Both entries or, where memory is short, none.
    const auto deadline = deadlines_.emplace(id, deadline_ns).first;
    try {
      timers_.emplace(Key{deadline_ns, id}, std::move(callback));
    } catch (const std::bad_alloc&) {
      deadlines_.erase(deadline);
      throw;
    }
    if (const Status status = StartLocked(); !status.ok()) LOG_ERROR << status.message();
  }
  // The thread sleeps until the earliest deadline, so only an earlier one has to wake it.
  if (first) wake_.NotifyOne();
  return id;
}

bool ThreadTimerQueue::Move(TimerId id, uint64_t deadline_ns) noexcept {
  bool first;
  {
    const MutexLock lock(mutex_);
    const auto found = deadlines_.find(id);
    if (found == deadlines_.end()) return false;
    first = IsFirst(deadline_ns);
    auto timer = timers_.extract(Key{found->second, id});
    timer.key().first = deadline_ns;
    timers_.insert(std::move(timer));
    found->second = deadline_ns;
  }
  if (first) wake_.NotifyOne();
  return true;
}

void ThreadTimerQueue::Cancel(TimerId id) {
  MutexLock lock(mutex_);
  if (auto found = deadlines_.find(id); found != deadlines_.end()) {
    timers_.erase(Key{found->second, id});
    deadlines_.erase(found);
    return;
  }
  // A callback that cancels its own timer must not wait for itself.
  if (thread_.joinable() && thread_.get_id() == std::this_thread::get_id()) return;
  while (running_ == id) callback_done_.Wait(lock);
}

void ThreadTimerQueue::Run() {
  ForbidBlocking();
  MutexLock lock(mutex_);
  while (!stopping_) {
    if (timers_.empty()) {
      wake_.Wait(lock);
      continue;
    }
    const uint64_t deadline = timers_.begin()->first.first;
    const uint64_t now = clock_.NowNs();
    if (deadline > now) {
      wake_.WaitFor(lock, WaitTime(now, deadline));
      continue;
    }
    auto node = timers_.extract(timers_.begin());
    running_ = node.key().second;
    running_since_ns_ = now;
    deadlines_.erase(running_);
    lock.Unlock();
    node.mapped()();
    // The callback is destroyed before the lock is taken: what it has captured may call this queue
    // when destroyed. Cancel() returns only after that.
    node.mapped() = nullptr;
    lock.Lock();
    running_ = 0;
    callback_done_.NotifyAll();
  }
}

std::optional<StageSample> ThreadTimerQueue::Sample(uint64_t now_ns) {
  if (!mutex_.TryLock()) return std::nullopt;
  const AdoptedLock lock(mutex_);
  StageSample sample;
  const bool is_overdue = !timers_.empty() && timers_.begin()->first.first < now_ns;
  if (running_ != 0) {
    sample.blocked_since_ns = running_since_ns_;
  } else if (is_overdue && !stopping_) {
    sample.blocked_since_ns = timers_.begin()->first.first;
  }
  if (sample.blocked_since_ns != 0) {
    sample.detail = running_ != 0 ? "a timer's work runs" : "a timer is due";
  }
  return sample;
}

TimerQueue::TimerId ManualTimerQueue::Schedule(uint64_t deadline_ns, Callback callback) {
  const MutexLock lock(mutex_);
  const TimerId id = next_id_++;
  timers_.emplace(std::pair{deadline_ns, id}, std::move(callback));
  return id;
}

bool ManualTimerQueue::Move(TimerId id, uint64_t deadline_ns) noexcept {
  const MutexLock lock(mutex_);
  const auto found = std::find_if(timers_.begin(), timers_.end(),
                                  [id](const auto& timer) { return timer.first.second == id; });
  if (found == timers_.end()) return false;
  auto timer = timers_.extract(found);
  timer.key().first = deadline_ns;
  timers_.insert(std::move(timer));
  return true;
}

void ManualTimerQueue::Cancel(TimerId id) {
  const MutexLock lock(mutex_);
  std::erase_if(timers_, [id](const auto& timer) { return timer.first.second == id; });
}

int ManualTimerQueue::RunDue() {
  int count = 0;
  for (;;) {
    Callback callback;
    {
      const MutexLock lock(mutex_);
      if (timers_.empty() || timers_.begin()->first.first > clock_.NowNs()) return count;
      callback = std::move(timers_.extract(timers_.begin()).mapped());
    }
    callback();
    ++count;
  }
}

size_t ManualTimerQueue::size() const {
  const MutexLock lock(mutex_);
  return timers_.size();
}

}  // namespace nereid::base
