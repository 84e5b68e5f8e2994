// SPDX-License-Identifier: Apache-2.0
#include "bound/queue.h"

#include <algorithm>
#include <map>
#include <new>

/// The definition of the opaque C type.
struct NEREID_BoundQueue {
  std::string token;
  std::shared_ptr<nereid::bound::Queue> queue;
};

namespace nereid::bound {
namespace {

struct Registry {
  base::Mutex mutex;
  std::map<std::string, std::shared_ptr<Queue>> queues NEREID_GUARDED_BY(mutex);
};

Registry& TheRegistry() {
  static auto& registry = *new Registry;  // threads of the program may outlive static objects
  return registry;
}

void Finish(NEREID_BoundBatch* batch, bool refused) {
  // The instance may leave, and the batch with it, as soon as the mutex is free.
  const base::MutexLock lock(batch->mutex);
  batch->refused = refused;
  batch->done = true;
  batch->changed.NotifyAll();
}

NEREID_BoundQueue* Open(const char* token) {
  try {
    auto handle = std::make_unique<NEREID_BoundQueue>();
    handle->token = token;
    handle->queue = std::make_shared<Queue>();
    Registry& registry = TheRegistry();
    const base::MutexLock lock(registry.mutex);
    const bool added = registry.queues.emplace(handle->token, handle->queue).second;
    return added ? handle.release() : nullptr;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void Close(NEREID_BoundQueue* handle) {
  {
    Registry& registry = TheRegistry();
    const base::MutexLock lock(registry.mutex);
    registry.queues.erase(handle->token);
  }
  handle->queue->Close();
}

void Free(NEREID_BoundQueue* handle) { delete handle; }

NEREID_BoundBatch* Take(NEREID_BoundQueue* handle, uint32_t timeout_ms) {
  return handle->queue->Take(std::chrono::milliseconds(timeout_ms));
}

uint32_t Count(const NEREID_BoundBatch* batch) { return batch->count; }

TRITONBACKEND_Request* Request(const NEREID_BoundBatch* batch, uint32_t index) {
  return index < batch->count ? batch->requests[index] : nullptr;
}

void FinishTaken(NEREID_BoundBatch* batch, const bool* succeeded) {
  std::copy(succeeded, succeeded + batch->count, batch->succeeded.begin());
  Finish(batch, false);
}

}  // namespace

bool Queue::Execute(NEREID_BoundBatch* batch) {
  batch->succeeded.assign(batch->count, false);
  {
    const base::MutexLock lock(mutex_);
    if (closed_) return false;
    waiting_.push_back(batch);
    changed_.NotifyOne();
  }
  base::MutexLock lock(batch->mutex);
  while (!batch->done) batch->changed.Wait(lock);
  return !batch->refused;
}

NEREID_BoundBatch* Queue::Take(std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  base::MutexLock lock(mutex_);
  while (waiting_.empty() && !closed_) {
    if (!changed_.WaitUntil(lock, deadline) && waiting_.empty()) return nullptr;
  }
  if (waiting_.empty()) return nullptr;
  NEREID_BoundBatch* const batch = waiting_.front();
  waiting_.pop_front();
  batch->taken = std::chrono::steady_clock::now();
  return batch;
}

void Queue::Close() {
  std::deque<NEREID_BoundBatch*> refused;
  {
    const base::MutexLock lock(mutex_);
    closed_ = true;
    refused.swap(waiting_);
    changed_.NotifyAll();
  }
  for (NEREID_BoundBatch* const batch : refused) Finish(batch, true);
}

std::shared_ptr<Queue> FindQueue(const std::string& token) {
  Registry& registry = TheRegistry();
  const base::MutexLock lock(registry.mutex);
  const auto found = registry.queues.find(token);
  return found == registry.queues.end() ? nullptr : found->second;
}

}  // namespace nereid::bound

extern "C" __attribute__((visibility("default"))) const NEREID_BoundFunctions* NEREID_BoundApi() {
  using namespace nereid::bound;
  static constexpr NEREID_BoundFunctions kFunctions = {
      NEREID_BOUND_VERSION, Open, Close, Free, Take, Count, Request, FinishTaken};
  return &kFunctions;
}
