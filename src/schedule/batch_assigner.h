// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "schedule/batch_planner.h"
#include "schedule/execution_permits.h"
#include "schedule/sequence_hooks.h"
#include "schedule/worker_pool.h"

namespace nereid::schedule {

/// The result of planning, to be carried out without the scheduler's lock.
struct Assignment {
  /// Runs `batch`. All further batches are with their workers already.
  Worker* worker = nullptr;
  std::optional<Batch> batch;
  std::shared_ptr<Worker> woken;  // has got `batch` and must be notified
  /// Workers with a batch whose threads must be started, linked by Worker::next_unstarted.
  Worker* unstarted = nullptr;
  std::vector<Refusal> refused;
  RequestPtr starved;  // a request that is ended because memory was short
  bool settle_permits = false;
  bool started = false;       // some worker has got a batch
  uint64_t wake_ns = kNever;  // when another batch may be ready if no other event comes

  /// Gives `batch` to its worker, which must be notified. The scheduler's mutex must be held.
  void HandOver();
  /// Gives a batch to a worker, and notes if its thread must be started. The scheduler's mutex must
  /// be held.
  void Give(Worker& to, Batch given);
  /// Returns whether there is nothing to carry out.
  bool IsDone() const {
    return !batch && !woken && unstarted == nullptr && refused.empty() && !starved &&
           !settle_permits;
  }
};

/// Gives the batches of a planner to the idle workers of a pool. Holds no requests. Not
/// thread-safe: the scheduler calls it under its mutex.
class BatchAssigner {
 public:
  /// `sequences` is the planner if it plans sequences, else null. `permits` may be null; `waiter`
  /// is told when it grants a permit later. All must outlive this object.
  BatchAssigner(BatchPlanner& planner, SequenceHooks* sequences, WorkerPool& workers,
                ExecutionPermits* permits, ExecutionPermits::Waiter& waiter)
      : planner_(planner),
        sequences_(sequences),
        workers_(workers),
        permits_(permits),
        waiter_(waiter) {}

  /// Assigns batches until no idle worker gets one. `permitted` is a worker that holds a permit
  /// already, or null. If it throws std::bad_alloc, `assignment` holds the results of the steps
  /// before, no request is lost, and no permit is held for a worker without a batch.
  void Assign(uint64_t now_ns, Worker* permitted, Assignment* assignment);

 private:
  /// Takes one step of Assign. Returns whether the loop must go on: a worker got a batch, or
  /// another instance must be asked.
  bool AssignOne(uint64_t now_ns, Worker* permitted, Assignment* assignment);
  /// Returns the idle worker to ask for a batch, or null. Lowers `wake_ns` of the assignment to the
  /// time of the next possible batch.
  Worker* ChooseWorker(uint64_t now_ns, Assignment* assignment);
  /// Returns the idle workers for which a batch is ready. Sets `wake_ns` to the time at which the
  /// first of the others may have one.
  std::vector<Worker*> ReadyWorkers(uint64_t now_ns, uint64_t* wake_ns);
  void Start(Worker& worker, Batch batch, uint64_t now_ns, Assignment* assignment);
  /// Returns the permit of a worker that has no batch after all.
  void ReturnPermit(const Worker& worker, Assignment* assignment);

  BatchPlanner& planner_;
  SequenceHooks* const sequences_;
  WorkerPool& workers_;
  ExecutionPermits* const permits_;
  ExecutionPermits::Waiter& waiter_;
};

}  // namespace nereid::schedule
