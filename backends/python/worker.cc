// SPDX-License-Identifier: Apache-2.0
#include "python/worker.h"

#include <algorithm>
#include <csignal>

namespace nereid::python {

void Worker::Kill(const std::string& reason) {
  const base::MutexLock lock(mutex_);
  if (kill_reason_.empty()) {
    kill_reason_ = reason;
  }
  if (!reaped_) {
    kill(-process_.pid, SIGKILL);
    kill(process_.pid, SIGKILL);
  }
}

std::string Worker::kill_reason() {
  const base::MutexLock lock(mutex_);
  return kill_reason_;
}

std::string Worker::Reap() {
  const base::MutexLock lock(mutex_);
  // What the model has started and left belongs to its process group.
  kill(-process_.pid, SIGKILL);
  reaped_ = true;
  return WaitForEnd(process_.pid);
}

void Worker::MarkEnded(const std::string& reason) {
  const base::MutexLock lock(mutex_);
  if (ended_.load()) {
    return;
  }
  reason_ = reason;
  ended_ = true;
  work.Shutdown();
  call.Shutdown();
  changed_.NotifyAll();
}

bool Worker::WaitUntilEnded(std::chrono::milliseconds time) {
  const auto deadline = std::chrono::steady_clock::now() + time;
  base::MutexLock lock(mutex_);
  while (!ended_.load() && changed_.WaitUntil(lock, deadline)) {
  }
  return ended_.load();
}

std::string Worker::WaitForReason() {
  base::MutexLock lock(mutex_);
  while (!ended_.load()) {
    changed_.Wait(lock);
  }
  return reason_;
}

bool Worker::AddBatch(uint64_t id, std::shared_ptr<ExecutingBatch> batch, size_t most) {
  base::MutexLock lock(mutex_);
  while (!ended_.load() && batches_.size() >= most) {
    changed_.Wait(lock);
  }
  if (ended_.load()) {
    return false;
  }
  batches_[id] = std::move(batch);
  return true;
}

std::shared_ptr<ExecutingBatch> Worker::TakeBatch(uint64_t id) {
  const base::MutexLock lock(mutex_);
  const auto found = batches_.find(id);
  if (found == batches_.end()) {
    return nullptr;
  }
  std::shared_ptr<ExecutingBatch> batch = std::move(found->second);
  batches_.erase(found);
  changed_.NotifyAll();
  return batch;
}

std::vector<std::shared_ptr<ExecutingBatch>> Worker::TakeBatches() {
  const base::MutexLock lock(mutex_);
  std::vector<std::shared_ptr<ExecutingBatch>> batches;
  batches.reserve(batches_.size());
  for (auto& [id, batch] : batches_) {
    batches.push_back(std::move(batch));
  }
  batches_.clear();
  changed_.NotifyAll();
  return batches;
}

uint64_t Worker::OldestBatch() {
  const base::MutexLock lock(mutex_);
  uint64_t oldest = 0;
  for (const auto& [id, batch] : batches_) {
    oldest = oldest == 0 ? batch->start_ns() : std::min(oldest, batch->start_ns());
  }
  return oldest;
}

}  // namespace nereid::python
