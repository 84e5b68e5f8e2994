// SPDX-License-Identifier: Apache-2.0
#include "repository/requests/interruptible_call.h"

#include <chrono>
#include <exception>
#include <optional>
#include <utility>

#include "base/log.h"
#include "base/mutex.h"

namespace nereid::repository {
namespace {

/// What the thread of the call and the one that waits for it share. It lives as long as either.
struct Shared {
  base::Mutex mutex;
  base::ConditionVariable ended;
  std::optional<InterruptibleCall::Model> result NEREID_GUARDED_BY(mutex);
  std::exception_ptr thrown NEREID_GUARDED_BY(mutex);
  bool is_given_up NEREID_GUARDED_BY(mutex) = false;
};

InterruptibleCall::Model Unmade() { return base::Status::Internal("the call has thrown"); }

/// Runs the call and hands its result over, or ends it if nobody waits.
void Execute(Shared& shared, const InterruptibleCall& call) {
  InterruptibleCall::Model result = Unmade();
  std::exception_ptr thrown;
  try {
    result = call.make();
  } catch (...) {
    thrown = std::current_exception();
  }
  {
    base::MutexLock lock(shared.mutex);
    if (!shared.is_given_up) {
      shared.result = std::move(result);
      shared.thrown = thrown;
      shared.ended.NotifyAll();
      return;
    }
  }
  call.end_given_up(result);
}

}  // namespace

InterruptibleCall::Model InterruptibleCall::Run(CallThreads& threads) const {
  const auto shared = std::make_shared<Shared>();
  auto thread = threads.Run([shared, call = *this] { Execute(*shared, call); });
  if (!thread.ok()) {
    LOG_WARNING << thread.status().message();
    return make();
  }
  base::MutexLock lock(shared->mutex);
  while (!shared->result) {
    shared->ended.WaitFor(lock, std::chrono::milliseconds(50));
    if (shared->result) break;
    lock.Unlock();
    const base::Status checked = check();
    lock.Lock();
    if (checked.ok() || shared->result) continue;
    give_up();
    shared->is_given_up = true;
    CallThread::Leave(std::move(thread).value());
    return checked;
  }
  Model result = std::move(*shared->result);
  const std::exception_ptr thrown = shared->thrown;
  lock.Unlock();
  threads.Keep(std::move(thread).value());
  if (thrown != nullptr) std::rethrow_exception(thrown);
  return result;
}

}  // namespace nereid::repository
