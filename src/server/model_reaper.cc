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
  if (thread_.joinable()) thread_.join();
}

void ModelReaper::Post(std::function<void()> destroy) {
  {
    std::lock_guard lock(mutex_);
    work_.push_back(std::move(destroy));
    if (!thread_.joinable()) thread_ = base::StartThread("model-reaper", [this] { Run(); });
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
      lock.unlock();
      destroy();
    }
    lock.lock();
    if (!work_.empty()) continue;
    lock.unlock();
    when_done_();
    lock.lock();
  }
}

}  // namespace nereid::server
