// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/stages.h"
#include "base/thread_annotations.h"
#include "schedule/batch_assigner.h"
#include "schedule/batch_executor.h"
#include "schedule/batch_planner.h"
#include "schedule/cancellation_watch.h"
#include "schedule/execution_permits.h"
#include "schedule/execution_watchdog.h"
#include "schedule/refusal_sender.h"
#include "schedule/response_order.h"
#include "schedule/scheduler.h"
#include "schedule/scheduler_environment.h"
#include "schedule/sequence_hooks.h"
#include "schedule/wake_timer.h"
#include "schedule/worker_pool.h"
#include "schedule/worker_threads.h"

namespace nereid::schedule {

/// The scheduler of every model with a backend: drives a BatchPlanner over all instances of the
/// model. It has no thread of its own. The thread that brings an event (a request, a free instance,
/// a timer, a permit) runs the planner under mutex_ and hands the batch over; an instance that
/// finishes a batch plans the next batch itself.
///
/// Lock order: mutex_ comes first. Under it are taken the locks inside ExecutionPermits::TryAcquire
/// and Release, ResponseOrder::Commit, Cancellation::SetListener and WakeTimer::WakeAt; none of
/// these calls anything back while it holds its lock. mutex_ is never held while a batch runs, a
/// request is answered, a permit is settled, or a thread is waited for.
///
/// Memory: every event is carried out without an exception. Where planning fails because an
/// allocation fails, one queued request is ended with an error, and planning is tried again.
class InstanceScheduler final : public Scheduler,
                                private request::ReleaseListener,
                                private ExecutionPermits::Waiter {
 public:
  /// Creates a scheduler without instances. `sequences` is the planner itself if it plans
  /// sequences, else null. `order` may be null: responses are then not ordered.
  InstanceScheduler(std::string model_name, std::unique_ptr<BatchPlanner> planner,
                    SequenceHooks* sequences, std::shared_ptr<ResponseOrder> order,
                    const SchedulerEnvironment& environment);

  /// Waits until everything queued has run. Must not be called from an instance's own thread.
  ~InstanceScheduler() override;

  base::Status Enqueue(RequestPtr& request) override;
  base::Result<std::unique_ptr<PreparedInstances>> PrepareInstances(
      std::vector<SchedulerInstance> instances) override;
  void AddPrepared(std::unique_ptr<PreparedInstances> prepared) override;
  void RemoveInstances(const std::vector<BatchRunner*>& runners) override;
  size_t PendingCount() const override;
  base::Status CheckProgress() const override;
  std::shared_ptr<ResponseOrder> response_order() const override { return order_; }
  void RetireInstances(const std::vector<BatchRunner*>& runners) override;
  void EndIdleSequences() override;
  SequencePort* sequence_port() const override { return port_.get(); }
  std::optional<telemetry::SequenceStatistics> CountSequences() const override;
  telemetry::SequenceList ListSequences(size_t limit) const override;

 private:
  class WaitingWorkers;

  class Progress;

  class Port;

  void OnReleased(request::InferenceRequest& request) noexcept override;
  base::Status Reschedule(RequestPtr& request) noexcept override;
  void OnPermit(BatchRunner* instance) override;
  void OnTimer();
  void OnWatchdog();

  base::Status CheckHasInstance(const request::InferenceRequest& request) const
      NEREID_REQUIRES(mutex_);
  /// Assigns ready batches to idle workers and sets the timers. `assignment` is empty. The first
  /// batch stays in the
  /// assignment until Assignment::HandOver. `permitted` is a worker that holds a permit already, or
  /// null. `search`: looks for cancelled and timed-out requests first.
  void Plan(uint64_t now_ns, Assignment* assignment, Worker* permitted = nullptr,
            bool search = false) NEREID_REQUIRES(mutex_);
  /// Plans, and hands the first batch over.
  void Distribute(uint64_t now_ns, Assignment* assignment) NEREID_REQUIRES(mutex_);
  /// Records that the worker's execution is over, and plans the next batches.
  void Finish(Worker& worker, Assignment* assignment) NEREID_REQUIRES(mutex_);

  /// Notifies the worker that has a batch, settles permits and answers refused requests.
  void CarryOut(Assignment& assignment) NEREID_EXCLUDES(mutex_);
  /// Completes a batch of sequences and answers the requests for which that failed.
  void CompleteBatch(Batch* batch) NEREID_EXCLUDES(mutex_);
  /// Runs the batch on the calling thread. `input_bytes` is the byte size of all its inputs.
  void RunBatch(Worker& worker, Batch batch, uint64_t input_bytes) NEREID_EXCLUDES(mutex_);
  void WorkerLoop(Worker& worker) NEREID_EXCLUDES(mutex_);

  const std::string model_name_;
  const base::Clock& clock_;
  ExecutionPermits* const permits_;
  /// Null for most models.
  const std::shared_ptr<BatchLimits> limits_ NEREID_GUARDED_BY(mutex_);
  const std::shared_ptr<const request::SequenceInputs> sequence_inputs_;
  const std::shared_ptr<ResponseOrder> order_;
  const RefusalSender refusals_;
  const ExecutionWatchdog watchdog_;
  BatchExecutor executor_;

  mutable base::Mutex mutex_;
  const std::unique_ptr<BatchPlanner> planner_ NEREID_PT_GUARDED_BY(mutex_);
  SequenceHooks* const sequences_ NEREID_PT_GUARDED_BY(mutex_);  // null: a model without sequences
  const std::unique_ptr<SequencePort> port_;                     // null, too, then
  WorkerPool workers_ NEREID_GUARDED_BY(mutex_);
  BatchAssigner assigner_ NEREID_GUARDED_BY(mutex_);
  /// The calls of RemoveInstances that wait for vacancy.
  int retiring_ NEREID_GUARDED_BY(mutex_) = 0;
  // Of the last planning, for the watchdog: when time alone brings work, and its number.
  uint64_t wake_ns_ NEREID_GUARDED_BY(mutex_) = kNever;
  uint64_t plans_ NEREID_GUARDED_BY(mutex_) = 0;
  /// A worker has finished or is vacant, or all is done.
  base::ConditionVariable worker_free_;

  CancellationWatch cancellations_;
  // Declared last, so destroyed first: the callbacks of the timers use the other members.
  WakeTimer timer_;
  WakeTimer watchdog_timer_;
  WorkerThreads threads_;
  const std::unique_ptr<base::Stage> progress_;  // what the watchdog sees
  const base::StageList::Entry listed_;
};

}  // namespace nereid::schedule
