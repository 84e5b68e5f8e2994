// SPDX-License-Identifier: Apache-2.0
#include "repository/requests/call_threads.h"

#include <chrono>
#include <utility>

#include "base/background.h"
#include "base/threads.h"

namespace nereid::repository {

struct CallThread::Shared {
  base::Mutex mutex;
  base::ConditionVariable changed;
  std::function<void()> next NEREID_GUARDED_BY(mutex);
  bool must_end NEREID_GUARDED_BY(mutex) = false;
  bool has_ended NEREID_GUARDED_BY(mutex) = false;

  /// Returns the next call; an empty function if the thread has to end.
  std::function<void()> Take() {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    base::MutexLock lock(mutex);
    while (!next && !must_end && changed.WaitUntil(lock, deadline)) {
    }
    has_ended = !next;
    return std::exchange(next, nullptr);
  }
};

base::Result<std::unique_ptr<CallThread>> CallThread::Start(std::function<void()> call) {
  auto shared = std::make_shared<Shared>();
  std::unique_ptr<CallThread> result(new CallThread(shared));
  auto thread = base::StartThread("model-load", [shared, first = std::move(call)]() mutable {
    const base::ScopedBackground background;
    auto run = std::exchange(first, nullptr);
    while (run) {
      base::LetOthersGoFirst();
      run();
      run = nullptr;  // before the wait: the call may own a model
      run = shared->Take();
    }
  });
  if (!thread.ok()) return thread.status();
  result->thread_ = std::move(thread).value();
  return result;
}

CallThread::~CallThread() {
  if (!thread_.joinable()) return;
  End();
  thread_.join();
}

void CallThread::End() {
  const base::MutexLock lock(shared_->mutex);
  shared_->must_end = true;
  shared_->changed.NotifyAll();
}

bool CallThread::Run(std::function<void()>& call) {
  const base::MutexLock lock(shared_->mutex);
  if (shared_->has_ended) return false;
  shared_->next = std::move(call);
  shared_->changed.NotifyAll();
  return true;
}

void CallThread::Leave(std::unique_ptr<CallThread> thread) {
  thread->End();
  thread->thread_.detach();
}

std::unique_ptr<CallThread> CallThreads::TakeIdle() {
  const base::MutexLock lock(mutex_);
  if (idle_.empty()) return nullptr;
  auto thread = std::move(idle_.back());
  idle_.pop_back();
  return thread;
}

base::Result<std::unique_ptr<CallThread>> CallThreads::Run(std::function<void()> call) {
  while (auto thread = TakeIdle()) {
    if (thread->Run(call)) return thread;
  }
  return CallThread::Start(std::move(call));
}

void CallThreads::Keep(std::unique_ptr<CallThread> thread) {
  const base::MutexLock lock(mutex_);
  idle_.push_back(std::move(thread));
}

}  // namespace nereid::repository
