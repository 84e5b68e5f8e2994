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
    if (work_.size() > idle_ && threads_.size() < kMostThreads && !stopping_) {
      threads_.push_back(base::StartThread("model-reaper", [this] { Run(); }));
    }
  }
  wake_.notify_one();
}

void ModelReaper::Run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    wake_.wait(lock, [this] { return stopping_ || !work_.empty(); });
    --idle_;
    if (work_.empty()) return;
    {
      std::function<void()> destroy = std::move(work_.front());
      work_.pop_front();
      lock.unlock();
      destroy();
    }
    lock.lock();
  }
}

}  // namespace nereid::server
