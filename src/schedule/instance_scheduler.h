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
#include "schedule/make_scheduler.h"
#include "schedule/response_order.h"
#include "schedule/scheduler.h"
#include "schedule/wake_timer.h"

namespace nereid::schedule {

/// Drives a planner: the direct scheduler and the dynamic batcher, over all instances of a model.
/// There is no scheduler thread. Whoever brings an event (a request, a free instance, a timer, a
/// permit) runs the planner under the lock and hands the batch over; an instance that finishes
/// plans the next batch itself.
///
/// mutex_ is held while the planner, ExecutionPermits::TryAcquire, ResponseOrder::Reserve,
/// Cancellation::SetListener or a timer's Schedule is called, all of which take locks of their own
/// and call nobody back; never while a batch runs or a request is answered.
class InstanceScheduler final : public Scheduler,
                                private request::CancellationListener,
                                private request::ReleaseListener,
                                private ExecutionPermits::Waiter {
 public:
  /// `order` may be null. Has no instances yet.
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
  /// Every member but `thread` and `instance` is guarded by mutex_.
  struct Worker : std::enable_shared_from_this<Worker> {
    SchedulerInstance instance;
    InstanceId id = 0;
    std::condition_variable ready;
    std::optional<Batch> batch;  // handed over, not yet taken
    uint64_t busy_since_ns = 0;  // when its batch was formed; 0 = it has none
    bool reported_stuck = false;
    bool leaving = false;  // gets no further batch
    bool stop = false;     // its thread ends
    // Of the batch that was run last, for the planner. Written by whoever runs it, without the
    // lock: a busy worker is that thread's alone.
    uint64_t executed_size = 0;
    uint64_t executed_wait_ns = 0;
    uint64_t executed_ns = 0;
    std::thread thread;

    bool IsStuck(uint64_t now_ns, uint64_t limit_ns) const {
      return busy_since_ns != 0 && now_ns >= busy_since_ns && now_ns - busy_since_ns >= limit_ns;
    }
  };
  class WaitingWorkers;
  /// What planning brings about, to be carried out without the lock.
  struct Plan {
    Worker* worker = nullptr;  // runs `batch`; further batches have been handed over already
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
  /// Has the request's cancellation and timeouts noticed while it waits.
  void WatchLocked(const request::InferenceRequest& request);
  /// Brings ready batches and idle workers together, and sets timers for what is left.
  /// `permitted` has a permit already; null if none has.
  Plan PlanLocked(uint64_t now_ns, Worker* permitted = nullptr);
  /// One step of it; whether a worker got a batch.
  bool AssignLocked(uint64_t now_ns, Worker* permitted, uint64_t* wake_ns, Plan* plan);
  Worker* ChooseWorkerLocked(uint64_t now_ns, uint64_t* wake_ns, Plan* plan);
  /// The idle workers that have a batch now; `wake_ns`: when the others may have one.
  std::vector<Worker*> ReadyWorkersLocked(uint64_t now_ns, uint64_t* wake_ns);
  void StartLocked(Worker& worker, Batch batch, uint64_t now_ns, Plan* plan);
  Worker* FindIdleLocked(const BatchRunner* runner) const;

  /// Carries a plan out: hands its batch over, answers what is refused. Takes the lock away.
  void CarryOut(Plan plan, std::unique_lock<std::mutex>& lock);
  void Answer(std::vector<Refusal> refused);
  /// Adds what the server adds; answers what that is impossible for.
  void CompleteBatch(Batch* batch);
  /// Runs the batch on the calling thread. `input_bytes`: of all its requests, as InputBytes counts.
  void RunBatch(Worker& worker, Batch batch, uint64_t input_bytes);
  /// The worker's batch is done: it is idle, or, if it is leaving, free to go. Plans what is next.
  Plan FinishLocked(Worker& worker);
  /// Of a batch that has run on the thread that brought it.
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
  int retiring_ = 0;                              // guarded by mutex_: who wait for vacancy
  bool accepting_ = true;                         // guarded by mutex_
  std::condition_variable worker_free_;  // a worker has finished or is vacant, the queue is empty

  std::atomic<bool> cancelled_{false};     // a queued request was cancelled
  std::atomic<uint64_t> next_drop_ns_{0};  // not before this are cancelled requests looked for
  WakeTimer timer_;
  WakeTimer watchdog_timer_;
};

}  // namespace nereid::schedule
