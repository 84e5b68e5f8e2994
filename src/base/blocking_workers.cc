// SPDX-License-Identifier: Apache-2.0
#include "base/blocking_workers.h"

#include <algorithm>
#include <exception>
#include <iterator>
#include <optional>

#include "base/adopted_lock.h"
#include "base/background.h"
#include "base/log.h"
#include "base/threads.h"

namespace nereid::base {

BlockingWorkers::~BlockingWorkers() { End(/*drop_waiting=*/false); }

void BlockingWorkers::Stop() { End(/*drop_waiting=*/true); }

bool BlockingWorkers::Run(Task task) {
  std::deque<Waiting> abandoned;  // destroyed after the lock is released: a task may own much
  bool accepted = false;
  {
    const MutexLock lock(mutex_);
    if (MayHaveAbandoned()) abandoned = TakeAbandoned();
    accepted = Accept(&task);
  }
  for (const Waiting& waiting : abandoned) waiting.task.drop();
  return accepted;
}

bool BlockingWorkers::Accept(Task* task) {
  if (stopping_) return false;
  // idle_ also counts threads that have been notified but have not taken their task yet. Each
  // queued task uses up one of them, so a thread is free only if there are more idle threads than
  // tasks.
  const bool has_thread = idle_ > tasks_.size() || AddThread();
  if (!has_thread && (threads_.empty() || tasks_.size() >= max_waiting_)) return false;
  tasks_.push_back({std::move(*task), !has_thread});
  wake_.NotifyOne();
  return true;
}

bool BlockingWorkers::AddThread() {
  if (threads_.size() >= max_threads_) return false;
  // So that push_back cannot throw and destroy a running thread.
  threads_.reserve(threads_.size() + 1);
  auto thread = StartThread(thread_name_, [this] { Work(); });
  if (!thread.ok()) {
    LOG_ERROR << thread.status().message();
    return false;
  }
  threads_.push_back(std::move(thread).value());
  return true;
}

// Before a task is refused, and when a quarter of the queue is new: so the callers of Run(), which
// are event loops, look at four tasks for each that they add, however many wait.
bool BlockingWorkers::MayHaveAbandoned() {
  if (tasks_.size() < max_waiting_ && ++added_ < tasks_.size() / 4) return false;
  added_ = 0;
  return true;
}

std::deque<BlockingWorkers::Waiting> BlockingWorkers::TakeAbandoned() {
  const auto stays = [](const Waiting& waiting) {
    return !waiting.has_waited || !waiting.task.is_abandoned || !waiting.task.is_abandoned();
  };
  std::deque<Waiting> abandoned;
  const auto first = std::stable_partition(tasks_.begin(), tasks_.end(), stays);
  std::move(first, tasks_.end(), std::back_inserter(abandoned));
  tasks_.erase(first, tasks_.end());
  return abandoned;
}

void BlockingWorkers::Work() {
  std::optional<ScopedBackground> background;
  if (work_ == PoolWork::kInBackground) background.emplace();
  const bool computes = work_ == PoolWork::kComputes || work_ == PoolWork::kMostlyComputes;
  if (computes) GiveWayToOtherThreads();
  MutexLock lock(mutex_);
  while (true) {
    ++idle_;
    while (!stopping_ && tasks_.empty()) wake_.Wait(lock);
    --idle_;
    // Empty only after Stop() or in the destructor: the queue is drained before a thread ends.
    if (tasks_.empty()) return;
    Waiting next = std::move(tasks_.front());
    tasks_.pop_front();
    ++taken_;
    lock.Unlock();
    Task& task = next.task;
    try {
      const bool gone = next.has_waited && task.is_abandoned && task.is_abandoned();
      gone ? task.drop() : task.run();
    } catch (const std::exception& error) {
      LOG_ERROR << "a task of thread '" << thread_name_ << "' failed: " << error.what();
    }
    // Destroyed without the lock: the task may own much, and may call Run() when destroyed.
    task = {};
    lock.Lock();
  }
}

std::optional<StageSample> BlockingWorkers::Sample(uint64_t now_ns) {
  if (!mutex_.TryLock()) return std::nullopt;
  const AdoptedLock lock(mutex_);
  const bool moves = tasks_.empty() || taken_ != seen_taken_ || stopping_;
  seen_taken_ = taken_;
  if (moves) blocked_since_ns_ = 0;
  if (!moves && blocked_since_ns_ == 0) blocked_since_ns_ = now_ns;
  StageSample sample{.blocked_since_ns = blocked_since_ns_};
  if (sample.blocked_since_ns != 0) {
    sample.detail = std::to_string(tasks_.size()) + " tasks wait";
  }
  return sample;
}

void BlockingWorkers::End(bool drop_waiting) {
  std::vector<std::thread> threads;
  std::deque<Waiting> dropped;
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    // The threads are joined without the lock, because they need it to end.
    threads.swap(threads_);
    if (drop_waiting) dropped.swap(tasks_);
  }
  wake_.NotifyAll();
  for (std::thread& thread : threads) thread.join();
}

}  // namespace nereid::base
