// SPDX-License-Identifier: Apache-2.0
#include "schedule/instance_scheduler.h"

#include <algorithm>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/adopted_lock.h"
#include "base/log.h"
#include "request/binding.h"
#include "request/response_factory.h"
#include "schedule/scheduler_progress.h"
#include "schedule/sequence/complete_batch.h"
#include "schedule/sequence/sequence_transfers.h"

namespace nereid::schedule {

using base::MutexLock;
using base::Status;

namespace {

/// How many batches the thread that has enqueued a request runs, its own included.
constexpr int kMaxInlineBatches = 4;

bool Holds(const std::vector<RequestPtr>& requests, const request::InferenceRequest* wanted) {
  return std::any_of(requests.begin(), requests.end(),
                     [wanted](const RequestPtr& request) { return request.get() == wanted; });
}

/// Returns the refusal of a request that is ended because memory was short.
Refusal OutOfMemory(RequestPtr request, const std::string& model) noexcept {
  Status error;
  try {
    error = Status::Unavailable(request->LogPrefix() + "the server is out of memory: model '" +
                                model + "' has not executed the request");
  } catch (const std::bad_alloc&) {
    error = Status::Unavailable("out of memory");  // short enough to need no memory itself
  }
  return {std::move(request), std::move(error), telemetry::FailureReason::kOther};
}

// Most of a thousand models may never get a request, and short executions need no thread of the
// instance. A thread that is missing later ends the requests of one batch; with sequences it would
// end a client's sequence, and with permits it would hold the resources of other models.
bool StartsThreadsLate(const SequenceHooks* sequences, const SchedulerEnvironment& environment) {
  return sequences == nullptr && environment.permits == nullptr;
}

}  // namespace

/// Workers whose threads run, but which are not in the pool yet, so no batch can reach them.
class InstanceScheduler::WaitingWorkers final : public PreparedInstances {
 public:
  explicit WaitingWorkers(InstanceScheduler& scheduler) : scheduler_(scheduler) {}
  ~WaitingWorkers() override {
    {
      MutexLock lock(scheduler_.mutex_);
      for (const auto& worker : workers) worker->stop = true;
    }
    for (const auto& worker : workers) {
      worker->ready.NotifyOne();
      if (worker->thread.joinable()) worker->thread.join();
    }
  }
  WaitingWorkers(const WaitingWorkers&) = delete;
  WaitingWorkers& operator=(const WaitingWorkers&) = delete;

  WorkerPool::Workers workers;

 private:
  InstanceScheduler& scheduler_;
};

/// What the watchdog sees of the scheduler.
class InstanceScheduler::Progress final : public base::Stage {
 public:
  explicit Progress(InstanceScheduler& scheduler) : scheduler_(scheduler) {}

  std::optional<base::StageSample> Sample(uint64_t now_ns) override {
    InstanceScheduler& scheduler = scheduler_;
    if (!scheduler.mutex_.TryLock()) return std::nullopt;
    const base::AdoptedLock lock(
        scheduler.mutex_);  // the text of the sample may not fit into memory
    const SchedulerView view{.workers = scheduler.workers_,
                             .queued = scheduler.planner_->size(),
                             .wake_ns = scheduler.wake_ns_,
                             .plans = scheduler.plans_,
                             .may_wait = scheduler.sequences_ != nullptr ||
                                         scheduler.permits_ != nullptr ||
                                         scheduler.limits_ != nullptr};
    return progress_.Sample(view, now_ns);
  }

 private:
  InstanceScheduler& scheduler_;
  SchedulerProgress progress_;
};

/// The scheduler's sequences, under its lock.
class InstanceScheduler::Port final : public SequencePort {
 public:
  explicit Port(InstanceScheduler& scheduler) : scheduler_(scheduler) {}

  bool Has(const request::CorrelationId& id) const override {
    MutexLock lock(scheduler_.mutex_);
    return scheduler_.sequences_->transfers().Has(id);
  }
  base::Result<HeldSequence> Hold(const request::CorrelationId& id) override {
    MutexLock lock(scheduler_.mutex_);
    return scheduler_.sequences_->transfers().Hold(id, scheduler_.clock_.NowNs());
  }
  base::Result<uint64_t> Adopt(const request::CorrelationId& id,
                               const std::vector<request::SavedState>& states, uint64_t idle_ns,
                               bool needs_slot) override {
    const auto& inputs = scheduler_.sequence_inputs_;
    std::shared_ptr<request::SequenceStates> restored;
    if (inputs != nullptr) restored = inputs->NewStates();
    if (restored != nullptr) NEREID_RETURN_IF_ERROR(restored->Restore(states));
    return Change([&](SequenceTransfers& transfers, uint64_t now_ns) {
      return transfers.Adopt(id, std::move(restored), idle_ns, needs_slot, now_ns);
    });
  }
  bool Settle(uint64_t handle, HoldEnd end) override {
    return Change([&](SequenceTransfers& transfers, uint64_t now_ns) {
      return transfers.Settle(handle, end, now_ns);
    });
  }

 private:
  /// Plans after a change: slots may be free, and the time of the next event another one.
  template <typename Work>
  std::invoke_result_t<Work, SequenceTransfers&, uint64_t> Change(Work work) {
    Assignment assignment;
    std::optional<std::invoke_result_t<Work, SequenceTransfers&, uint64_t>> result;
    {
      MutexLock lock(scheduler_.mutex_);
      const uint64_t now = scheduler_.clock_.NowNs();
      result.emplace(work(scheduler_.sequences_->transfers(), now));
      scheduler_.Distribute(now, &assignment);
    }
    scheduler_.CarryOut(assignment);
    return *std::move(result);
  }

  InstanceScheduler& scheduler_;
};

InstanceScheduler::InstanceScheduler(std::string model_name, std::unique_ptr<BatchPlanner> planner,
                                     SequenceHooks* sequences, std::shared_ptr<ResponseOrder> order,
                                     const SchedulerEnvironment& environment)
    : model_name_(std::move(model_name)),
      clock_(environment.clock),
      permits_(environment.permits),
      limits_(environment.batch_limits),
      sequence_inputs_(environment.sequence_inputs),
      order_(std::move(order)),
      refusals_(environment.observer, order_),
      watchdog_(model_name_, environment.watchdog_ns),
      executor_(model_name_, clock_, environment.observer, environment.inline_mode,
                environment.watchdog_ns),
      planner_(std::move(planner)),
      sequences_(sequences),
      port_(sequences == nullptr ? nullptr : std::make_unique<Port>(*this)),
      assigner_(*planner_, sequences_, workers_, permits_, *this),
      cancellations_(clock_, timer_),
      timer_(environment.timers, [this] { OnTimer(); }),
      watchdog_timer_(environment.timers, [this] { OnWatchdog(); }),
      threads_({model_name_, StartsThreadsLate(sequences, environment)}, mutex_, worker_free_,
               refusals_, [this](Worker& worker) { WorkerLoop(worker); }),
      progress_(std::make_unique<Progress>(*this)),
      listed_({base::StageKind::kScheduler, model_name_}, *progress_) {}

// ---- Instances ----

base::Result<std::unique_ptr<PreparedInstances>> InstanceScheduler::PrepareInstances(
    std::vector<SchedulerInstance> instances) {
  auto prepared = std::make_unique<WaitingWorkers>(*this);
  for (SchedulerInstance& instance : instances) {
    auto& worker = prepared->workers.emplace_back(std::make_shared<Worker>());
    worker->instance = std::move(instance);
    if (threads_.StartsLate()) continue;
    auto thread = threads_.Start(*worker);
    if (!thread.ok()) {
      return thread.status().WithPrefix("model '" + model_name_ + "', instance " +
                                        std::to_string(prepared->workers.size()) + " of " +
                                        std::to_string(instances.size()) + ": ");
    }
    worker->thread = std::move(thread).value();
    worker->has_thread = true;
  }
  return std::unique_ptr<PreparedInstances>(std::move(prepared));
}

void InstanceScheduler::AddPrepared(std::unique_ptr<PreparedInstances> prepared) {
  if (prepared == nullptr) return;
  WorkerPool::Workers& workers = static_cast<WaitingWorkers&>(*prepared).workers;
  Assignment assignment;
  {
    MutexLock lock(mutex_);
    workers_.Reserve(workers.size());
    while (!workers.empty()) {
      Worker& worker = *workers.front();
      worker.id = workers_.NextId();
      if (sequences_ != nullptr) sequences_->AddInstance(worker.id, clock_.NowNs());
      workers_.Add(std::move(workers.front()));
      workers.erase(workers.begin());
    }
    Distribute(clock_.NowNs(), &assignment);
  }
  CarryOut(assignment);
}

void InstanceScheduler::RetireInstances(const std::vector<BatchRunner*>& runners) {
  MutexLock lock(mutex_);
  if (sequences_ == nullptr) return;
  for (const auto& worker : workers_.Find(runners)) sequences_->RetireInstance(worker->id);
}

void InstanceScheduler::RemoveInstances(const std::vector<BatchRunner*>& runners) {
  MutexLock lock(mutex_);
  const WorkerPool::Workers leaving = workers_.Find(runners);
  if (sequences_ != nullptr) {
    for (const auto& worker : leaving) sequences_->RetireInstance(worker->id);
  }
  ++retiring_;
  // Step 1: sequences cannot move to another instance, so wait until the last one has ended there.
  // The workers still take batches meanwhile.
  for (const auto& worker : leaving) {
    while (sequences_ != nullptr && !sequences_->IsVacant(worker->id)) worker_free_.Wait(lock);
  }
  --retiring_;
  // Step 2: from here no batch can be assigned to these workers: they are not idle, and Finish does
  // not make them idle again.
  workers_.Leave(leaving);
  // Withdraw waits for an OnPermit that is running, and OnPermit takes mutex_.
  if (permits_ != nullptr) {
    lock.Unlock();
    permits_->Withdraw(runners);
    lock.Lock();
  }
  // Step 3: wait for the batches that are running, and for the threads that are being started.
  for (const auto& worker : leaving) {
    while (worker->busy_since_ns != 0 || worker->is_starting) worker_free_.Wait(lock);
  }
  workers_.Remove(leaving);
  for (const auto& worker : leaving) {
    if (sequences_ != nullptr) sequences_->RemoveInstance(worker->id);
    worker->stop = true;
    worker->ready.NotifyOne();
  }
  lock.Unlock();
  for (const auto& worker : leaving) {
    if (worker->thread.joinable()) worker->thread.join();
  }
}

InstanceScheduler::~InstanceScheduler() {
  std::vector<BatchRunner*> runners;
  std::vector<Refusal> unserved;
  Assignment assignment;
  {
    MutexLock lock(mutex_);
    planner_->Drain(clock_.NowNs());
    // Without workers nothing would ever take the queued requests.
    if (workers_.empty()) {
      planner_->DropAll(
          Status::Unavailable("model '" + model_name_ + "' was unloaded while it had no instance"),
          &unserved);
    }
    Distribute(clock_.NowNs(), &assignment);
  }
  CarryOut(assignment);
  {
    MutexLock lock(mutex_);
    while (planner_->size() > 0 || !workers_.AllIdle()) worker_free_.Wait(lock);
    for (const auto& worker : workers_.all()) runners.push_back(worker->instance.runner);
  }
  refusals_.SendAll(std::move(unserved));
  RemoveInstances(runners);
}

// ---- Requests ----

Status InstanceScheduler::CheckHasInstance(const request::InferenceRequest& request) const {
  if (!workers_.empty()) return Status::Ok();
  return Status::Unavailable(request.LogPrefix() + "model '" + model_name_ +
                             "' has only passive instances");
}

Status InstanceScheduler::Enqueue(RequestPtr& request) {
  const bool may_run_inline = request->may_run_inline;
  const request::InferenceRequest* const pushed = request.get();
  Assignment assignment;
  InlineBatch taken;
  bool is_inline = false;
  {
    MutexLock lock(mutex_);
    NEREID_RETURN_IF_ERROR(CheckHasInstance(*request));
    const uint64_t now = clock_.NowNs();
    request->StampQueueStart(now);
    // Memory for the place in the order is allocated before the request is queued: after that an
    // exception would make the caller answer a request that also runs.
    ResponseOrder::Reservation place;
    if (order_ != nullptr) ResponseOrder::Prepare(*request->response_factory(), &place);
    NEREID_RETURN_IF_ERROR(planner_->Push(request, now));
    if (order_ != nullptr) order_->Commit(place, *pushed->response_factory());

    Plan(now, &assignment);
    // A request that runs at once needs no watching. `pushed` is valid while the lock is held: no
    // worker can run or destroy the request before.
    if (!assignment.batch || !Holds(assignment.batch->requests, pushed)) {
      cancellations_.Watch(*pushed);
    }
    is_inline = may_run_inline && executor_.TakeInline(now, &assignment, &taken);
    assignment.HandOver();
  }
  CarryOut(assignment);
  // What other event loops have enqueued meanwhile runs here, too, if it is little. The rest goes
  // to the instance's thread.
  for (int batches = 1; is_inline; ++batches) {
    Worker& worker = *taken.worker;
    RunBatch(worker, std::move(taken.batch), taken.input_bytes);
    executor_.WarnOfOverrun(worker);
    Assignment next;
    {
      MutexLock lock(mutex_);
      Finish(worker, &next);
      is_inline =
          batches < kMaxInlineBatches && executor_.TakeInline(clock_.NowNs(), &next, &taken);
      next.HandOver();
    }
    CarryOut(next);
  }
  return Status::Ok();
}

size_t InstanceScheduler::PendingCount() const {
  MutexLock lock(mutex_);
  return planner_->size();
}

// ---- Sequences ----

void InstanceScheduler::EndIdleSequences() {
  Assignment assignment;
  {
    MutexLock lock(mutex_);
    const uint64_t now = clock_.NowNs();
    planner_->Drain(now);
    Distribute(now, &assignment);
  }
  CarryOut(assignment);
}

std::optional<telemetry::SequenceStatistics> InstanceScheduler::CountSequences() const {
  MutexLock lock(mutex_);
  if (sequences_ == nullptr) return std::nullopt;
  return sequences_->CountSequences();
}

telemetry::SequenceList InstanceScheduler::ListSequences(size_t limit) const {
  MutexLock lock(mutex_);
  if (sequences_ == nullptr) return {};
  // A pointer, because the analysis does not know that the lambda runs with the mutex held.
  return sequences_->ListSequences(
      limit, clock_.NowNs(), [workers = &workers_](InstanceId id) { return workers->NameOf(id); });
}

void InstanceScheduler::OnReleased(request::InferenceRequest& request) noexcept {
  Assignment assignment;
  {
    MutexLock lock(mutex_);
    const uint64_t now = clock_.NowNs();
    sequences_->OnReleased(request, now);
    Distribute(now, &assignment);
  }
  CarryOut(assignment);
}

Status InstanceScheduler::Reschedule(RequestPtr& request) noexcept {
  try {
    MutexLock lock(mutex_);
    NEREID_RETURN_IF_ERROR(sequences_->CheckReschedule(*request, clock_.NowNs()));
  } catch (const std::bad_alloc&) {
    return Status::Unavailable("out of memory");  // the text of the error did not fit into memory
  }
  // Without mutex_, because the response factory and the states have locks and work of their own.
  // The sequence cannot end between the two locked sections: it is still `running`.
  request->response_factory()->MarkRescheduled();
  request::SettleStates(*request, /*is_last=*/false);
  request->release_listener = nullptr;
  Assignment assignment;
  {
    MutexLock lock(mutex_);
    const uint64_t now = clock_.NowNs();
    // Before the request is queued: after that another thread may run and destroy it.
    cancellations_.Watch(*request);
    sequences_->Reschedule(std::move(request), now);
    Distribute(now, &assignment);
  }
  CarryOut(assignment);
  return Status::Ok();
}

// ---- Other events ----

void InstanceScheduler::OnPermit(BatchRunner* instance) {
  Assignment assignment;
  {
    MutexLock lock(mutex_);
    // The worker may have been given a batch or have been removed since the permit was requested.
    // Then the permit is returned at once.
    Worker* const worker = workers_.FindIdle(instance);
    Plan(clock_.NowNs(), &assignment, worker);
    if (worker == nullptr) {
      permits_->Release(instance, false);
      assignment.settle_permits = true;
    }
    assignment.HandOver();
  }
  CarryOut(assignment);
}

void InstanceScheduler::OnTimer() {
  Assignment assignment;
  {
    MutexLock lock(mutex_);
    Plan(clock_.NowNs(), &assignment, nullptr, /*search=*/true);
    assignment.HandOver();
  }
  CarryOut(assignment);
}

Status InstanceScheduler::CheckProgress() const {
  if (watchdog_.limit_ns() == 0) return Status::Ok();
  MutexLock lock(mutex_);
  return watchdog_.Check(workers_, clock_.NowNs());
}

void InstanceScheduler::OnWatchdog() {
  std::vector<std::string> messages;
  try {
    MutexLock lock(mutex_);
    uint64_t next_ns = kNever;
    messages = watchdog_.Report(workers_, clock_.NowNs(), &next_ns);
    // The timer calls once for the earliest time, so it is set again for the busy workers.
    watchdog_timer_.WakeAt(next_ns);
  } catch (const std::bad_alloc&) {
    return;  // the next batch sets the timer again
  }
  for (const std::string& message : messages) LOG_ERROR << message;
}

// ---- Planning ----

// Every event ends here. The timer is set for changes that time alone brings (the end of a delay, a
// timeout); every other change is an event that plans again.
void InstanceScheduler::Plan(uint64_t now_ns, Assignment* assignment, Worker* permitted,
                             bool search) {
  try {
    if (search) {
      if (cancellations_.TakeDue(now_ns)) planner_->DropCancelled(now_ns, &assignment->refused);
      // Refuses the requests that have timed out even if no worker is idle.
      planner_->Expire(now_ns, &assignment->refused);
    }
    assigner_.Assign(now_ns, permitted, assignment);
    wake_ns_ = std::min(assignment->wake_ns, planner_->NextExpiry());
    ++plans_;
    timer_.WakeAt(wake_ns_);
    if (assignment->started && watchdog_.limit_ns() != 0) {
      watchdog_timer_.WakeAt(now_ns + watchdog_.limit_ns());
    }
  } catch (const std::bad_alloc&) {
    // One request makes room for the others, and CarryOut plans again, so that this ends: each
    // round takes a request out of the queue.
    assignment->starved = planner_->DropFirst(now_ns);
  }
  // RemoveInstances waits for vacancy, the destructor for the end of all work.
  if (retiring_ > 0 || (planner_->size() == 0 && workers_.AllIdle())) worker_free_.NotifyAll();
}

void InstanceScheduler::Distribute(uint64_t now_ns, Assignment* assignment) {
  Plan(now_ns, assignment);
  assignment->HandOver();
}

void InstanceScheduler::Finish(Worker& worker, Assignment* assignment) {
  if (limits_ != nullptr) {
    limits_->OnExecuted(worker.executed_size, worker.executed_wait_ns, worker.executed_ns,
                        clock_.NowNs());
  }
  worker.is_inline = false;
  workers_.SetFree(worker);
  if (worker.leaving) worker_free_.NotifyAll();
  // Release, plan, settle: Plan puts this model into the queue of the permits again before Settle
  // grants the resources of this permit, so the order of the queue decides and not the order of
  // events.
  if (permits_ != nullptr) {
    permits_->Release(worker.instance.runner, true);
    assignment->settle_permits = true;
  }
  Plan(clock_.NowNs(), assignment);
}

void InstanceScheduler::CarryOut(Assignment& assignment) {
  while (!assignment.IsDone()) {
    // The worker is notified after the unlock, because it would otherwise wait for the lock at
    // once. It may find the batch without the notification, run it and be removed before NotifyOne;
    // the shared_ptr keeps it alive until then.
    if (assignment.woken != nullptr) assignment.woken->ready.NotifyOne();
    Worker* const failed =
        assignment.unstarted == nullptr ? nullptr : threads_.StartAll(assignment.unstarted);
    if (assignment.settle_permits) permits_->Settle();
    refusals_.SendAll(std::move(assignment.refused));
    // From here the scheduler may be destroyed, unless a worker is busy or a request is queued.
    if (assignment.starved == nullptr && failed == nullptr) return;
    if (assignment.starved != nullptr) {
      refusals_.Send(OutOfMemory(std::move(assignment.starved), model_name_));
    }
    assignment = {};
    MutexLock lock(mutex_);
    threads_.Free(failed, &workers_);
    Distribute(clock_.NowNs(), &assignment);
  }
}

// ---- Execution ----

void InstanceScheduler::CompleteBatch(Batch* batch) {
  for (const RequestPtr& request : batch->requests) {
    if (request == nullptr || request->sequence_handle == 0) continue;
    // From here on the release of the request is reported to the planner (OnReleased).
    request->response_factory()->MarkHandedOut();
    request->release_listener = this;
  }
  if (sequence_inputs_ == nullptr) return;
  CompleteSequenceBatch(*sequence_inputs_, batch, [this](Refusal failed) {
    std::vector<Refusal> refused;
    try {
      MutexLock lock(mutex_);
      const uint64_t now = clock_.NowNs();
      sequences_->OnFailed(*failed.request, now);
      sequences_->TakeRefused(now, &refused);
    } catch (const std::bad_alloc&) {
      // The next planning takes the others.
    }
    refusals_.Send(std::move(failed));
    refusals_.SendAll(std::move(refused));
  });
}

// The lock is kept between the end of an execution and the next wait, so that a batch costs no more
// lock operations than necessary.
void InstanceScheduler::WorkerLoop(Worker& worker) {
  MutexLock lock(mutex_);
  for (;;) {
    // A worker is stopped only while it has no batch, so a batch is never lost.
    while (!worker.batch && !worker.stop) worker.ready.Wait(lock);
    if (!worker.batch) return;
    std::optional<Batch> batch = std::exchange(worker.batch, std::nullopt);
    while (batch) {
      lock.Unlock();
      const uint64_t input_bytes = InputBytes(*batch);
      RunBatch(worker, std::move(*batch), input_bytes);
      lock.Lock();
      Assignment assignment;
      Finish(worker, &assignment);
      batch.reset();
      // A batch for this worker stays on this thread, without a hand-over.
      if (assignment.worker == &worker) batch.swap(assignment.batch);
      assignment.HandOver();
      if (assignment.IsDone()) continue;
      lock.Unlock();
      CarryOut(assignment);
      lock.Lock();
    }
  }
}

void InstanceScheduler::RunBatch(Worker& worker, Batch batch, uint64_t input_bytes) {
  for (const RequestPtr& request : batch.requests) {
    // From here the backend decides what a cancellation means. Waits for an OnCancelled in
    // progress.
    if (request != nullptr) request->cancellation()->SetListener(nullptr);
  }
  if (sequences_ != nullptr) CompleteBatch(&batch);
  // CompleteBatch may have emptied the batch; it still counts as executed, so that Finish makes the
  // worker idle.
  executor_.Run(worker, std::move(batch), input_bytes);
}

}  // namespace nereid::schedule
