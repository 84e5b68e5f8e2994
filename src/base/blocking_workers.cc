// SPDX-License-Identifier: Apache-2.0
#include "base/blocking_workers.h"

#include <algorithm>
#include <iterator>

#include "base/threads.h"

namespace nereid::base {

BlockingWorkers::~BlockingWorkers() { End(/*drop_waiting=*/false); }

void BlockingWorkers::Stop() { End(/*drop_waiting=*/true); }

bool BlockingWorkers::Run(Task task) {
  std::deque<Waiting> abandoned;  // outlives the lock
  bool accepted = false;
  {
    const std::lock_guard lock(mutex_);
    abandoned = TakeAbandoned();
    const bool has_thread = idle_ > tasks_.size() || threads_.size() < max_threads_;
    accepted = !stopping_ && (has_thread || tasks_.size() < max_waiting_);
    if (accepted) {
      tasks_.push_back({std::move(task), !has_thread});
      if (idle_ < tasks_.size() && threads_.size() < max_threads_) {
        threads_.push_back(StartThread(thread_name_, [this] { Work(); }));
      }
      wake_.notify_one();
    }
  }
  for (const Waiting& waiting : abandoned) waiting.task.drop();
  return accepted;
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
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_;
    wake_.wait(lock, [this] { return stopping_ || !tasks_.empty(); });
    --idle_;
    if (tasks_.empty()) return;
    Waiting next = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    Task& task = next.task;
    if (next.has_waited && task.is_abandoned && task.is_abandoned()) {
      task.drop();
    } else {
      task.run();
    }
    task = {};  // what it owns may be large, or call Run() when destroyed: not under the lock
    lock.lock();
  }
}

void BlockingWorkers::End(bool drop_waiting) {
  std::vector<std::thread> threads;
  std::deque<Waiting> dropped;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    threads.swap(threads_);
    if (drop_waiting) dropped.swap(tasks_);
  }
  wake_.notify_all();
  for (std::thread& thread : threads) thread.join();
}

}  // namespace nereid::base
