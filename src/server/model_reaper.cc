// SPDX-License-Identifier: Apache-2.0
#include "server/model_reaper.h"

#include <utility>

#include "base/threads.h"

namespace nereid::server {

ModelReaper::~ModelReaper() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ModelReaper::Post(std::function<void()> destroy) {
  {
    std::lock_guard lock(mutex_);
    work_.push_back(std::move(destroy));
    if (work_.size() + busy_ > threads_.size() && threads_.size() < kMostThreads && !stopping_) {
      threads_.push_back(base::StartThread("model-reaper", [this] { Run(); }));
    }
  }
  wake_.notify_one();
}

void ModelReaper::Run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return stopping_ || !work_.empty(); });
    if (work_.empty()) return;
    {
      std::function<void()> destroy = std::move(work_.front());
      work_.pop_front();
      ++busy_;
      lock.unlock();
      destroy();
    }
    lock.lock();
    --busy_;
    if (busy_ > 0 || !work_.empty()) continue;
    lock.unlock();
    when_done_();
    lock.lock();
  }
}

}  // namespace nereid::server
