// SPDX-License-Identifier: Apache-2.0
#include "base/blocking_workers.h"

#include <exception>

#include "base/log.h"
#include "base/threads.h"

namespace nereid::base {

BlockingWorkers::~BlockingWorkers() { End(/*drop_waiting=*/false); }

void BlockingWorkers::Stop() { End(/*drop_waiting=*/true); }

bool BlockingWorkers::Run(std::function<void()> task) {
  const std::lock_guard lock(mutex_);
  if (stopping_ || tasks_.size() >= max_waiting_) return false;
  tasks_.push_back(std::move(task));
  if (idle_ < tasks_.size() && threads_.size() < max_threads_) {
    threads_.push_back(StartThread(thread_name_, [this] { Work(); }));
  }
  wake_.notify_one();
  return true;
}

void BlockingWorkers::Work() {
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_;
    wake_.wait(lock, [this] { return stopping_ || !tasks_.empty(); });
    --idle_;
    if (tasks_.empty()) return;
    std::function<void()> task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    try {
      task();
    } catch (const std::exception& error) {
      LOG_ERROR << "a task of thread '" << thread_name_ << "' failed: " << error.what();
    }
    task = nullptr;  // what it owns may be large, or call Run() when destroyed: not under the lock
    lock.lock();
  }
}

void BlockingWorkers::End(bool drop_waiting) {
  std::vector<std::thread> threads;
  std::deque<std::function<void()>> dropped;
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
