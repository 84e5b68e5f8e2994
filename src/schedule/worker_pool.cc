// SPDX-License-Identifier: Apache-2.0
#include "schedule/worker_pool.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace nereid::schedule {

void WorkerPool::Reserve(size_t count) {
  all_.reserve(all_.size() + count);
  idle_.reserve(all_.size() + count);
}

void WorkerPool::Add(std::shared_ptr<Worker> worker) {
  idle_.push_back(worker.get());
  all_.push_back(std::move(worker));
}

WorkerPool::Workers WorkerPool::Find(const std::vector<BatchRunner*>& runners) const {
  Workers found;
  std::copy_if(all_.begin(), all_.end(), std::back_inserter(found), [&](const auto& worker) {
    return std::find(runners.begin(), runners.end(), worker->instance.runner) != runners.end();
  });
  return found;
}

void WorkerPool::Leave(const Workers& leaving) {
  for (const auto& worker : leaving) worker->leaving = true;
  std::erase_if(idle_, [](const Worker* worker) { return worker->leaving; });
}

void WorkerPool::Remove(const Workers& removed) {
  std::erase_if(all_, [&](const auto& worker) {
    return std::find(removed.begin(), removed.end(), worker) != removed.end();
  });
}

Worker* WorkerPool::FindIdle(const BatchRunner* runner) const {
  const auto found = std::find_if(idle_.begin(), idle_.end(), [runner](const Worker* worker) {
    return worker->instance.runner == runner;
  });
  return found == idle_.end() ? nullptr : *found;
}

void WorkerPool::SetBusy(Worker& worker, uint64_t now_ns) {
  if (idle_.back() == &worker) {
    idle_.pop_back();
  } else {
    std::erase(idle_, &worker);
  }
  worker.busy_since_ns = std::max<uint64_t>(1, now_ns);
}

void WorkerPool::SetFree(Worker& worker) {
  worker.busy_since_ns = 0;
  worker.reported_stuck = false;
  if (!worker.leaving) idle_.push_back(&worker);
}

std::string WorkerPool::NameOf(InstanceId id) const {
  const auto found =
      std::find_if(all_.begin(), all_.end(), [id](const auto& worker) { return worker->id == id; });
  return found == all_.end() ? std::string() : (*found)->instance.name;
}

}  // namespace nereid::schedule
