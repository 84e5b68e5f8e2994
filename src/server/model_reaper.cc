// SPDX-License-Identifier: Apache-2.0
#include "server/model_reaper.h"

#include <utility>

#include "base/background.h"
#include "base/log.h"
#include "base/threads.h"

namespace nereid::server {

ModelReaper::~ModelReaper() {
  std::vector<std::thread> threads;
  {
    base::MutexLock lock(mutex_);
    stopping_ = true;
    threads.swap(threads_);
  }
  wake_.NotifyAll();
  for (std::thread& thread : threads) thread.join();
  // If no thread could be started, the posted functions have not run.
  std::deque<std::function<void()>> left;
  {
    base::MutexLock lock(mutex_);
    left.swap(work_);
  }
  for (const auto& destroy : left) destroy();
}

base::Status ModelReaper::Start() {
  base::MutexLock lock(mutex_);
  return threads_.empty() ? StartThreadLocked() : base::Status::Ok();
}

base::Status ModelReaper::StartThreadLocked() {
  threads_.reserve(kMaxThreads);
  NEREID_ASSIGN_OR_RETURN(auto thread, base::StartThread("model-reaper", [this] { Run(); }));
  threads_.push_back(std::move(thread));
  return base::Status::Ok();
}

void ModelReaper::Post(std::function<void()> destroy) {
  {
    base::MutexLock lock(mutex_);
    work_.push_back(std::move(destroy));
    if (work_.size() + busy_ > threads_.size() && threads_.size() < kMaxThreads && !stopping_) {
      const base::Status status = StartThreadLocked();
      // Existing threads run the function later.
      if (!status.ok() && threads_.empty()) LOG_ERROR << status.message();
    }
  }
  wake_.NotifyOne();
}

void ModelReaper::Run() {
  const base::ScopedBackground background;
  base::MutexLock lock(mutex_);
  for (;;) {
    while (!stopping_ && work_.empty()) wake_.Wait(lock);
    if (work_.empty()) return;
    {
      // Destroyed before the lock is taken again: the function may hold references of its own.
      std::function<void()> destroy = std::move(work_.front());
      work_.pop_front();
      ++busy_;
      lock.Unlock();
      base::LetOthersGoFirst();
      destroy();
    }
    lock.Lock();
    --busy_;
    if (busy_ > 0 || !work_.empty()) continue;
    lock.Unlock();
    when_done_();
    lock.Lock();
  }
}

}  // namespace nereid::server
