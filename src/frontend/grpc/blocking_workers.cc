// SPDX-License-Identifier: Apache-2.0
#include "frontend/grpc/blocking_workers.h"

#include <utility>

#include "base/threads.h"

namespace nereid::frontend::grpc {
namespace {

constexpr size_t kMaxThreads = 4;

}  // namespace

bool BlockingWorkers::Run(std::function<void()> task) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return false;
  tasks_.push_back(std::move(task));
  if (idle_ < tasks_.size() && threads_.size() < kMaxThreads) {
    threads_.push_back(base::StartThread("grpc-blocking", [this] { Work(); }));
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
    if (stopping_) return;
    const std::function<void()> task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task();
    lock.lock();
  }
}

void BlockingWorkers::Stop() {
  std::vector<std::thread> threads;
  std::deque<std::function<void()>> dropped;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    threads.swap(threads_);
    dropped.swap(tasks_);
  }
  wake_.notify_all();
  for (std::thread& thread : threads) thread.join();
}

}  // namespace nereid::frontend::grpc
