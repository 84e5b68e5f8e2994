// SPDX-License-Identifier: Apache-2.0
#include "base/timer_queue.h"

#include <chrono>

#include "base/byte_budget.h"
#include "base/log.h"
#include "base/threads.h"

namespace nereid::base {

ThreadTimerQueue::~ThreadTimerQueue() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

Status ThreadTimerQueue::Start() {
  std::lock_guard lock(mutex_);
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
    std::lock_guard lock(mutex_);
    id = next_id_++;
    first = timers_.empty() || deadline_ns < timers_.begin()->first.first;
    timers_.emplace(Key{deadline_ns, id}, std::move(callback));
    deadlines_.emplace(id, deadline_ns);
    if (const Status status = StartLocked(); !status.ok()) LOG_ERROR << status.message();
  }
  // The thread sleeps until the earliest deadline, so only an earlier one has to wake it.
  if (first) wake_.notify_one();
  return id;
}

void ThreadTimerQueue::Cancel(TimerId id) {
  std::unique_lock lock(mutex_);
  if (auto found = deadlines_.find(id); found != deadlines_.end()) {
    timers_.erase(Key{found->second, id});
    deadlines_.erase(found);
    return;
  }
  // A callback that cancels its own timer must not wait for itself.
  if (thread_.joinable() && thread_.get_id() == std::this_thread::get_id()) return;
  callback_done_.wait(lock, [&] { return running_ != id; });
}

void ThreadTimerQueue::Run() {
  ForbidBlocking();
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (timers_.empty()) {
      wake_.wait(lock);
      continue;
    }
    const uint64_t deadline = timers_.begin()->first.first;
    const uint64_t now = clock_.NowNs();
    if (deadline > now) {
      wake_.wait_for(lock, std::chrono::nanoseconds(deadline - now));
      continue;
    }
    auto node = timers_.extract(timers_.begin());
    running_ = node.key().second;
    deadlines_.erase(running_);
    lock.unlock();
    node.mapped()();
    // The callback is destroyed before the lock is taken: what it has captured may call this queue
    // when destroyed. Cancel() returns only after that.
    node.mapped() = nullptr;
    lock.lock();
    running_ = 0;
    callback_done_.notify_all();
  }
}

TimerQueue::TimerId ManualTimerQueue::Schedule(uint64_t deadline_ns, Callback callback) {
  std::lock_guard lock(mutex_);
  const TimerId id = next_id_++;
  timers_.emplace(std::pair{deadline_ns, id}, std::move(callback));
  return id;
}

void ManualTimerQueue::Cancel(TimerId id) {
  std::lock_guard lock(mutex_);
  std::erase_if(timers_, [id](const auto& timer) { return timer.first.second == id; });
}

int ManualTimerQueue::RunDue() {
  int count = 0;
  for (;;) {
    Callback callback;
    {
      std::lock_guard lock(mutex_);
      if (timers_.empty() || timers_.begin()->first.first > clock_.NowNs()) return count;
      callback = std::move(timers_.extract(timers_.begin()).mapped());
    }
    callback();
    ++count;
  }
}

size_t ManualTimerQueue::size() const {
  std::lock_guard lock(mutex_);
  return timers_.size();
}

}  // namespace nereid::base
