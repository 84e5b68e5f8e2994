// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "schedule/batch_planner.h"
#include "schedule/execution_permits.h"
#include "schedule/inline_policy.h"
#include "schedule/response_order.h"
#include "schedule/scheduler.h"
#include "schedule/scheduler_environment.h"
#include "schedule/wake_timer.h"

namespace nereid::schedule {

/// The scheduler of every model with a backend: drives a BatchPlanner over all instances of the
/// model. It has no thread of its own. The thread that brings an event (a request, a free instance,
/// a timer, a permit) runs the planner under mutex_ and hands the batch over; an instance that
/// finishes a batch plans the next batch itself.
///
/// Locks: mutex_ is held during calls of the planner, ExecutionPermits::TryAcquire and Release,
/// ResponseOrder::Reserve, Cancellation::SetListener and WakeTimer::WakeAt. Those take locks of
/// their own and call nothing back while they hold them. mutex_ is never held while a batch runs or
/// a request is answered.
class InstanceScheduler final : public Scheduler,
                                private request::CancellationListener,
                                private request::ReleaseListener,
                                private ExecutionPermits::Waiter {
 public:
  /// Creates a scheduler without instances. `order` may be null: responses are then not ordered.
  InstanceScheduler(std::string model_name, std::unique_ptr<BatchPlanner> planner,
                    std::shared_ptr<ResponseOrder> order, const SchedulerEnvironment& environment);

  /// Waits until everything queued has run. Must not be called from an instance's own thread.
  ~InstanceScheduler() override;

  base::Status Enqueue(RequestPtr& request) override;
  base::Result<std::unique_ptr<PreparedInstances>> PrepareInstances(
      std::vector<SchedulerInstance> instances) override;
  void AddPrepared(std::unique_ptr<PreparedInstances> prepared) override;
  void RemoveInstances(const std::vector<BatchRunner*>& runners) override;
  void StopAccepting() override;
  size_t PendingCount() const override;
  base::Status CheckProgress() const override;
  std::shared_ptr<ResponseOrder> response_order() const override { return order_; }
  void RetireInstances(const std::vector<BatchRunner*>& runners) override;
  void EndIdleSequences() override;
  std::optional<telemetry::SequenceStatistics> CountSequences() const override;
  telemetry::SequenceList ListSequences(size_t most) const override;

 private:
  /// An instance and its thread. Every member is guarded by mutex_, except `thread`, `instance` and
  /// the executed_… members.
  struct Worker : std::enable_shared_from_this<Worker> {
    SchedulerInstance instance;
    InstanceId id = 0;
    std::condition_variable ready;
    std::optional<Batch> batch;  // handed over; the worker's thread has not taken it yet
    uint64_t busy_since_ns = 0;  // when its batch was formed; 0: the worker has no batch
    bool reported_stuck = false;
    bool leaving = false;  // is being removed: gets no further batch
    bool stop = false;     // its thread must end
    // The last batch that was run, for the planner. Written without the lock by the thread that
    // runs the batch: while a worker is busy, only that thread uses these members.
    uint64_t executed_size = 0;
    uint64_t executed_wait_ns = 0;
    uint64_t executed_ns = 0;
    std::thread thread;

    bool IsStuck(uint64_t now_ns, uint64_t limit_ns) const {
      return busy_since_ns != 0 && now_ns >= busy_since_ns && now_ns - busy_since_ns >= limit_ns;
    }
  };
  class WaitingWorkers;
  /// The result of planning, to be carried out without the lock.
  struct Plan {
    Worker* worker = nullptr;  // runs `batch`; all further batches are with their workers already
    std::optional<Batch> batch;
    std::vector<Refusal> refused;
    bool settle_permits = false;

    bool IsDone() const { return !batch && refused.empty() && !settle_permits; }
  };

  void OnCancelled() noexcept override;
  void OnReleased(request::InferenceRequest& request) noexcept override;
  base::Status Reschedule(RequestPtr& request) noexcept override;
  void OnPermit(BatchRunner* instance) override;
  void OnTimer();
  void OnWatchdog();

  base::Status CheckAcceptingLocked(const request::InferenceRequest& request) const;
  /// Registers this scheduler as the listener of the request's cancellation while the request
  /// waits.
  void WatchLocked(const request::InferenceRequest& request);
  /// Assigns ready batches to idle workers and sets the timer for what remains. `permitted` is a
  /// worker that holds a permit already, or null.
  Plan PlanLocked(uint64_t now_ns, Worker* permitted = nullptr);
  /// Takes one step of PlanLocked. Returns whether the loop must go on: a worker got a batch, or
  /// another instance must be asked.
  bool AssignLocked(uint64_t now_ns, Worker* permitted, uint64_t* wake_ns, Plan* plan);
  /// Returns the idle worker to ask for a batch, or null. Lowers `wake_ns` to the time of the next
  /// possible batch.
  Worker* ChooseWorkerLocked(uint64_t now_ns, uint64_t* wake_ns, Plan* plan);
  /// Returns the idle workers for which a batch is ready. Sets `wake_ns` to the time at which the
  /// first of the others may have one.
  std::vector<Worker*> ReadyWorkersLocked(uint64_t now_ns, uint64_t* wake_ns);
  void StartLocked(Worker& worker, Batch batch, uint64_t now_ns, Plan* plan);
  Worker* FindIdleLocked(const BatchRunner* runner) const;

  /// Hands over the plan's batch, settles permits and answers refused requests. Unlocks `lock`.
  void CarryOut(Plan plan, std::unique_lock<std::mutex>& lock);
  /// Sends the errors of refused requests. No lock may be held.
  void Answer(std::vector<Refusal> refused);
  /// Calls BatchPlanner::Complete and answers the requests for which it failed. Takes mutex_.
  void CompleteBatch(Batch* batch);
  /// Runs the batch on the calling thread. `input_bytes` is the byte size of all its inputs.
  void RunBatch(Worker& worker, Batch batch, uint64_t input_bytes);
  /// Makes the worker idle, or free to be removed if it is leaving, and plans the next batches.
  Plan FinishLocked(Worker& worker);
  /// Logs that a batch that ran inline took unexpectedly long.
  void WarnOfSurprise(const Worker& worker) const;
  void WorkerLoop(Worker& worker);
  std::string DescribeStuckLocked(const Worker& worker, uint64_t now_ns) const;

  const std::string model_name_;
  InlinePolicy inline_policy_;
  const base::Clock& clock_;
  SchedulerObserver& observer_;
  ExecutionPermits* const permits_;
  const uint64_t watchdog_ns_;
  const std::shared_ptr<ResponseOrder> order_;

  mutable std::mutex mutex_;
  const std::unique_ptr<BatchPlanner> planner_;   // guarded by mutex_, but for its const functions
  std::vector<std::shared_ptr<Worker>> workers_;  // guarded by mutex_
  std::vector<Worker*> idle_;                     // guarded by mutex_
  InstanceId next_instance_ = 1;                  // guarded by mutex_
  int retiring_ = 0;       // guarded by mutex_: calls of RemoveInstances that wait for vacancy
  bool accepting_ = true;  // guarded by mutex_
  std::condition_variable worker_free_;  // a worker has finished or is vacant, or all is done

  std::atomic<bool> cancelled_{false};     // a queued request was cancelled
  std::atomic<uint64_t> next_drop_ns_{0};  // cancelled requests are not looked for before this time
  // Declared last, so destroyed first: the callbacks of the timers use the other members.
  WakeTimer timer_;
  WakeTimer watchdog_timer_;
};

}  // namespace nereid::schedule
