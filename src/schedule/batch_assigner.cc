// SPDX-License-Identifier: Apache-2.0
#include "schedule/batch_assigner.h"

#include <algorithm>
#include <utility>

namespace nereid::schedule {

void Assignment::HandOver() {
  if (!batch) return;
  woken = worker->shared_from_this();
  Give(*worker, *std::move(batch));
  batch.reset();
}

void Assignment::Give(Worker& to, Batch given) {
  to.batch = std::move(given);
  if (to.has_thread) return;
  to.has_thread = to.is_starting = true;
  to.next_unstarted = unstarted;
  unstarted = &to;
}

void BatchAssigner::Assign(uint64_t now_ns, Worker* permitted, Assignment* assignment) {
  // Before the batches: requests that are refused may free slots for other sequences. With a permit
  // in hand Next does the same.
  if (sequences_ != nullptr && permitted == nullptr) {
    sequences_->TakeRefused(now_ns, &assignment->refused);
  }
  while (AssignOne(now_ns, permitted, assignment)) permitted = nullptr;
}

bool BatchAssigner::AssignOne(uint64_t now_ns, Worker* permitted, Assignment* assignment) {
  Worker* worker = permitted;
  if (worker == nullptr && planner_.size() > 0 && !workers_.idle().empty()) {
    worker = ChooseWorker(now_ns, assignment);
  }
  if (worker == nullptr) return false;
  const size_t refused_before = assignment->refused.size();
  Decision decision;
  try {
    decision = planner_.Next(now_ns, worker->id, &assignment->refused);
  } catch (...) {
    ReturnPermit(*worker, assignment);
    throw;
  }
  if (!decision.batch) {
    assignment->wake_ns = std::min(assignment->wake_ns, decision.wake_ns);
    // The planner had no batch after all (its requests were refused by Next).
    ReturnPermit(*worker, assignment);
    // All that was ready for this instance was cancelled, which may have freed a slot for a
    // sequence of another instance: look again.
    return sequences_ != nullptr && assignment->refused.size() > refused_before;
  }
  Start(*worker, std::move(*decision.batch), now_ns, assignment);
  return true;
}

void BatchAssigner::ReturnPermit(const Worker& worker, Assignment* assignment) {
  if (permits_ == nullptr) return;
  permits_->Release(worker.instance.runner, false);
  assignment->settle_permits = true;
}

Worker* BatchAssigner::ChooseWorker(uint64_t now_ns, Assignment* assignment) {
  // A permit that is held while a batch can still grow blocks other models, so with permits only
  // workers with a ready batch are considered. With sequences, instances differ, and a worker that
  // has no batch must be skipped. Otherwise any idle worker will do; the last one of the list has
  // worked most recently, so its memory is most likely still in the caches.
  if (permits_ == nullptr && sequences_ == nullptr) return workers_.idle().back();
  planner_.Expire(now_ns, &assignment->refused);
  const std::vector<Worker*> ready = ReadyWorkers(now_ns, &assignment->wake_ns);
  if (ready.empty() || permits_ == nullptr) return ready.empty() ? nullptr : ready.front();
  std::vector<BatchRunner*> runners;
  for (const Worker* worker : ready) runners.push_back(worker->instance.runner);
  return workers_.FindIdle(permits_->TryAcquire(runners, waiter_));
}

std::vector<Worker*> BatchAssigner::ReadyWorkers(uint64_t now_ns, uint64_t* wake_ns) {
  *wake_ns = kNever;
  std::vector<Worker*> ready;
  for (Worker* worker : workers_.idle()) {
    const uint64_t ready_ns = planner_.ReadyAt(now_ns, worker->id);
    if (ready_ns <= now_ns) {
      ready.push_back(worker);
    } else {
      *wake_ns = std::min(*wake_ns, ready_ns);
    }
  }
  return ready;
}

void BatchAssigner::Start(Worker& worker, Batch batch, uint64_t now_ns, Assignment* assignment) {
  workers_.SetBusy(worker, now_ns);
  assignment->started = true;
  // The first batch stays in the assignment: its worker may be the calling thread itself, or the
  // calling thread may run it inline. The scheduler hands it over otherwise.
  if (assignment->worker == nullptr) {
    assignment->worker = &worker;
    assignment->batch = std::move(batch);
  } else {
    assignment->Give(worker, std::move(batch));
    worker.ready.NotifyOne();
  }
}

}  // namespace nereid::schedule
