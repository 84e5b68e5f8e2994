// SPDX-License-Identifier: Apache-2.0
#include "server/model_reaper.h"

#include <utility>

#include "base/log.h"
#include "base/threads.h"

namespace nereid::server {

ModelReaper::~ModelReaper() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  for (const auto& destroy : work_) destroy();  // no thread could be started for these
}

base::Status ModelReaper::Start() {
  std::lock_guard lock(mutex_);
  return threads_.empty() ? StartThreadLocked() : base::Status::Ok();
}

base::Status ModelReaper::StartThreadLocked() {
  threads_.reserve(kMostThreads);
  NEREID_ASSIGN_OR_RETURN(auto thread, base::StartThread("model-reaper", [this] { Run(); }));
  threads_.push_back(std::move(thread));
  return base::Status::Ok();
}

void ModelReaper::Post(std::function<void()> destroy) {
  {
    std::lock_guard lock(mutex_);
    work_.push_back(std::move(destroy));
    if (work_.size() + busy_ > threads_.size() && threads_.size() < kMostThreads && !stopping_) {
      const base::Status status = StartThreadLocked();
      // Existing threads run the function later.
      if (!status.ok() && threads_.empty()) LOG_ERROR << status.message();
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
      // Destroyed before the lock is taken again: the function may hold references of its own.
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
