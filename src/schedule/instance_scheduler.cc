// SPDX-License-Identifier: Apache-2.0
#include "schedule/instance_scheduler.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/log.h"
#include "base/threads.h"
#include "request/binding.h"
#include "request/stopping_status.h"
#include "schedule/execution_messages.h"

namespace nereid::schedule {

using base::Status;

namespace {

/// The minimum time between two searches for cancelled requests, each of which reads the whole
/// queue.
constexpr uint64_t kDropIntervalNs = 1'000'000;

bool Holds(const std::vector<RequestPtr>& requests, const request::InferenceRequest* wanted) {
  return std::any_of(requests.begin(), requests.end(),
                     [wanted](const RequestPtr& request) { return request.get() == wanted; });
}

uint64_t InputBytes(const Batch& batch) {
  uint64_t bytes = 0;
  for (const RequestPtr& request : batch.requests) {
    if (request != nullptr) bytes += request->InputByteSize();
  }
  return bytes;
}

}  // namespace

/// Workers whose threads run, but which are not in workers_ yet, so no batch can reach them.
class InstanceScheduler::WaitingWorkers final : public PreparedInstances {
 public:
  explicit WaitingWorkers(InstanceScheduler& scheduler) : scheduler_(scheduler) {}
  ~WaitingWorkers() override {
    {
      std::lock_guard lock(scheduler_.mutex_);
      for (const auto& worker : workers) worker->stop = true;
    }
    for (const auto& worker : workers) {
      worker->ready.notify_one();
      if (worker->thread.joinable()) worker->thread.join();
    }
  }
  WaitingWorkers(const WaitingWorkers&) = delete;
  WaitingWorkers& operator=(const WaitingWorkers&) = delete;

  std::vector<std::shared_ptr<Worker>> workers;

 private:
  InstanceScheduler& scheduler_;
};

InstanceScheduler::InstanceScheduler(std::string model_name, std::unique_ptr<BatchPlanner> planner,
                                     std::shared_ptr<ResponseOrder> order,
                                     const SchedulerEnvironment& environment)
    : model_name_(std::move(model_name)),
      inline_policy_(environment.inline_mode),
      clock_(environment.clock),
      observer_(environment.observer),
      permits_(environment.permits),
      watchdog_ns_(environment.watchdog_ns),
      order_(std::move(order)),
      planner_(std::move(planner)),
      timer_(environment.timers, [this] { OnTimer(); }),
      watchdog_timer_(environment.timers, [this] { OnWatchdog(); }) {}

base::Result<std::unique_ptr<PreparedInstances>> InstanceScheduler::PrepareInstances(
    std::vector<SchedulerInstance> instances) {
  auto prepared = std::make_unique<WaitingWorkers>(*this);
  for (SchedulerInstance& instance : instances) {
    auto& worker = prepared->workers.emplace_back(std::make_shared<Worker>());
    worker->instance = std::move(instance);
    auto thread = base::StartThread(
        worker->instance.name, [this, w = worker.get()] { WorkerLoop(*w); },
        worker->instance.placement);
    if (!thread.ok()) {
      return thread.status().WithPrefix("model '" + model_name_ + "', instance " +
                                        std::to_string(prepared->workers.size()) + " of " +
                                        std::to_string(instances.size()) + ": ");
    }
    worker->thread = std::move(thread).value();
  }
  return std::unique_ptr<PreparedInstances>(std::move(prepared));
}

void InstanceScheduler::AddPrepared(std::unique_ptr<PreparedInstances> prepared) {
  if (prepared == nullptr) return;
  auto& workers = static_cast<WaitingWorkers&>(*prepared).workers;
  std::unique_lock lock(mutex_);
  workers_.reserve(workers_.size() + workers.size());
  idle_.reserve(workers_.size() + workers.size());
  for (auto& worker : workers) {
    worker->id = next_instance_++;
    planner_->AddInstance(worker->id, clock_.NowNs());
    idle_.push_back(worker.get());
    workers_.push_back(std::move(worker));
  }
  workers.clear();
  CarryOut(PlanLocked(clock_.NowNs()), lock);
}

void InstanceScheduler::RetireInstances(const std::vector<BatchRunner*>& runners) {
  std::lock_guard lock(mutex_);
  for (const auto& worker : workers_) {
    const bool named =
        std::find(runners.begin(), runners.end(), worker->instance.runner) != runners.end();
    if (named) planner_->RetireInstance(worker->id);
  }
}

void InstanceScheduler::RemoveInstances(const std::vector<BatchRunner*>& runners) {
  std::unique_lock lock(mutex_);
  const auto is_named = [&](const std::shared_ptr<Worker>& worker) {
    return std::find(runners.begin(), runners.end(), worker->instance.runner) != runners.end();
  };
  std::vector<std::shared_ptr<Worker>> leaving;
  std::copy_if(workers_.begin(), workers_.end(), std::back_inserter(leaving), is_named);
  for (const auto& worker : leaving) planner_->RetireInstance(worker->id);
  ++retiring_;
  // Step 1: sequences cannot move to another instance, so wait until the last one has ended there.
  // The workers still take batches meanwhile.
  worker_free_.wait(lock, [&] {
    return std::all_of(leaving.begin(), leaving.end(),
                       [&](const auto& worker) { return planner_->IsVacant(worker->id); });
  });
  --retiring_;
  // Step 2: from here no batch can be assigned to these workers: they are not idle, and
  // FinishLocked does not make them idle again.
  for (const auto& worker : leaving) worker->leaving = true;
  std::erase_if(idle_, [](const Worker* worker) { return worker->leaving; });
  // Withdraw waits for an OnPermit that is running, and OnPermit takes mutex_.
  if (permits_ != nullptr) {
    lock.unlock();
    permits_->Withdraw(runners);
    lock.lock();
  }
  // Step 3: wait for the batches that are running.
  worker_free_.wait(lock, [&] {
    return std::all_of(leaving.begin(), leaving.end(),
                       [](const auto& worker) { return worker->busy_since_ns == 0; });
  });
  std::erase_if(workers_, is_named);
  for (const auto& worker : leaving) {
    planner_->RemoveInstance(worker->id);
    worker->stop = true;
    worker->ready.notify_one();
  }
  lock.unlock();
  for (const auto& worker : leaving) worker->thread.join();
}

InstanceScheduler::~InstanceScheduler() {
  std::vector<BatchRunner*> runners;
  std::vector<Refusal> unserved;
  {
    std::unique_lock lock(mutex_);
    accepting_ = false;
    planner_->Drain(clock_.NowNs(), &unserved);
    // Without workers nothing would ever take the queued requests.
    if (workers_.empty()) {
      planner_->DropAll(
          Status::Unavailable("model '" + model_name_ + "' was unloaded while it had no instance"),
          &unserved);
    }
    CarryOut(PlanLocked(clock_.NowNs()), lock);
    lock.lock();
    worker_free_.wait(lock,
                      [this] { return planner_->size() == 0 && idle_.size() == workers_.size(); });
    for (const auto& worker : workers_) runners.push_back(worker->instance.runner);
  }
  Answer(std::move(unserved));
  RemoveInstances(runners);
}

Status InstanceScheduler::CheckAcceptingLocked(const request::InferenceRequest& request) const {
  // The further requests of a sequence that has begun are accepted during a stop.
  const bool goes_on =
      planner_->IsPerInstance() && (request.flags & request::kFlagSequenceStart) == 0;
  if (!accepting_ && !goes_on) {
    // Triton's texts; the one for sequences lacks the request's id.
    const Status stopping = request::StoppingStatus();
    return planner_->IsPerInstance() ? stopping : stopping.WithPrefix(request.LogPrefix());
  }
  if (workers_.empty()) {
    return Status::Unavailable(request.LogPrefix() + "model '" + model_name_ +
                               "' has only passive instances");
  }
  return Status::Ok();
}

Status InstanceScheduler::Enqueue(RequestPtr& request) {
  const bool may_run_inline = request->may_run_inline;
  const request::InferenceRequest* const pushed = request.get();
  std::unique_lock lock(mutex_);
  NEREID_RETURN_IF_ERROR(CheckAcceptingLocked(*request));
  const uint64_t now = clock_.NowNs();
  request->StampQueueStart(now);
  NEREID_RETURN_IF_ERROR(planner_->Push(request, now));
  if (order_ != nullptr) order_->Reserve(*pushed->response_factory());

  Plan plan = PlanLocked(now);
  // A request that runs at once needs no watching. `pushed` is valid while the lock is held: no
  // worker can run or destroy the request before.
  if (!plan.batch || !Holds(plan.batch->requests, pushed)) WatchLocked(*pushed);
  const uint64_t input_bytes = plan.batch && may_run_inline ? InputBytes(*plan.batch) : 0;
  if (!plan.batch || !may_run_inline || !inline_policy_.RunInline(input_bytes, now)) {
    CarryOut(std::move(plan), lock);
    return Status::Ok();
  }
  // The batch runs inline: this thread takes the place of the worker's thread, which sleeps.
  Worker& worker = *plan.worker;
  Batch batch = std::move(*plan.batch);
  plan.batch.reset();
  // `plan` keeps the refusals and the permits; the batch runs here instead of in the worker's
  // thread. The worker is busy, so no other thread uses it until FinishLocked.
  CarryOut(std::move(plan), lock);
  RunBatch(worker, std::move(batch), input_bytes);
  if (worker.executed_ns >= InlinePolicy::kSurpriseNs) WarnOfSurprise(worker);
  lock.lock();
  // The next batch goes to the instance's thread: the calling thread runs only the batch that the
  // arrival of its request produced.
  CarryOut(FinishLocked(worker), lock);
  return Status::Ok();
}

void InstanceScheduler::EndIdleSequences() {
  std::unique_lock lock(mutex_);
  const uint64_t now = clock_.NowNs();
  std::vector<Refusal> refused;
  planner_->Drain(now, &refused);
  CarryOut(PlanLocked(now), lock);
  Answer(std::move(refused));
}

std::optional<telemetry::SequenceStatistics> InstanceScheduler::CountSequences() const {
  std::lock_guard lock(mutex_);
  return planner_->CountSequences();
}

telemetry::SequenceList InstanceScheduler::ListSequences(size_t most) const {
  std::lock_guard lock(mutex_);
  return planner_->ListSequences(most, clock_.NowNs(), [this](InstanceId id) {
    const auto found = std::find_if(workers_.begin(), workers_.end(),
                                    [id](const auto& worker) { return worker->id == id; });
    return found == workers_.end() ? std::string() : (*found)->instance.name;
  });
}

void InstanceScheduler::StopAccepting() {
  std::lock_guard lock(mutex_);
  accepting_ = false;
}

size_t InstanceScheduler::PendingCount() const {
  std::lock_guard lock(mutex_);
  return planner_->size();
}

void InstanceScheduler::WatchLocked(const request::InferenceRequest& request) {
  request.cancellation()->SetListener(this);
  if (request.IsCancelled()) OnCancelled();
}

void InstanceScheduler::OnCancelled() noexcept {
  // Runs on the cancelling thread, which holds the lock of the Cancellation. WatchLocked takes that
  // lock under mutex_, so taking mutex_ here would be a deadlock: the timer does the work.
  if (cancelled_.exchange(true)) return;
  timer_.WakeAt(std::max(clock_.NowNs(), next_drop_ns_.load()));
}

void InstanceScheduler::OnReleased(request::InferenceRequest& request) noexcept {
  std::unique_lock lock(mutex_);
  const uint64_t now = clock_.NowNs();
  planner_->OnReleased(request, now);
  CarryOut(PlanLocked(now), lock);
}

Status InstanceScheduler::Reschedule(RequestPtr& request) noexcept {
  {
    std::lock_guard lock(mutex_);
    NEREID_RETURN_IF_ERROR(planner_->CheckReschedule(*request, clock_.NowNs()));
  }
  // Without mutex_, because the response factory and the states have locks and work of their own.
  // The sequence cannot end between the two locked sections: it is still `running`.
  request->response_factory()->MarkRescheduled();
  request::SettleStates(*request);
  request->release_listener = nullptr;
  const request::InferenceRequest* const pushed = request.get();
  std::unique_lock lock(mutex_);
  const uint64_t now = clock_.NowNs();
  // Before the request is queued: after that another thread may run and destroy it.
  WatchLocked(*pushed);
  std::vector<Refusal> refused;
  planner_->Reschedule(std::move(request), now, &refused);
  Plan plan = PlanLocked(now);
  std::move(plan.refused.begin(), plan.refused.end(), std::back_inserter(refused));
  plan.refused = std::move(refused);
  CarryOut(std::move(plan), lock);
  return Status::Ok();
}

void InstanceScheduler::OnPermit(BatchRunner* instance) {
  std::unique_lock lock(mutex_);
  // The worker may have been given a batch or have been removed since the permit was requested.
  // Then the permit is returned at once.
  Worker* const worker = FindIdleLocked(instance);
  Plan plan = PlanLocked(clock_.NowNs(), worker);
  if (worker == nullptr) {
    permits_->Release(instance, false);
    plan.settle_permits = true;
  }
  CarryOut(std::move(plan), lock);
}

void InstanceScheduler::OnTimer() {
  std::unique_lock lock(mutex_);
  const uint64_t now = clock_.NowNs();
  std::vector<Refusal> refused;
  if (cancelled_.load()) {
    if (now < next_drop_ns_.load()) {
      timer_.WakeAt(next_drop_ns_.load());
    } else {
      next_drop_ns_.store(now + kDropIntervalNs);
      // Cleared before the search: a cancellation that comes during it starts another search.
      cancelled_.store(false);
      planner_->DropCancelled(now, &refused);
    }
  }
  // Refuses what has timed out even if no worker is idle.
  planner_->Expire(now, &refused);
  Plan plan = PlanLocked(now);
  std::move(plan.refused.begin(), plan.refused.end(), std::back_inserter(refused));
  plan.refused = std::move(refused);
  CarryOut(std::move(plan), lock);
}

// Every event ends here. The loop assigns batches until no idle worker gets one. The timer is set
// for what changes by time alone (a delay, a timeout); every other change calls PlanLocked again.
InstanceScheduler::Plan InstanceScheduler::PlanLocked(uint64_t now_ns, Worker* permitted) {
  Plan plan;
  uint64_t wake_ns = kNever;
  while (AssignLocked(now_ns, permitted, &wake_ns, &plan)) permitted = nullptr;
  timer_.WakeAt(std::min(wake_ns, planner_->NextExpiry()));
  // RemoveInstances waits for vacancy, the destructor for the end of all work.
  if (retiring_ || (planner_->size() == 0 && idle_.size() == workers_.size())) {
    worker_free_.notify_all();
  }
  return plan;
}

bool InstanceScheduler::AssignLocked(uint64_t now_ns, Worker* permitted, uint64_t* wake_ns,
                                     Plan* plan) {
  Worker* worker = permitted;
  if (worker == nullptr && planner_->size() > 0 && !idle_.empty()) {
    worker = ChooseWorkerLocked(now_ns, wake_ns, plan);
  }
  if (worker == nullptr) return false;
  Decision decision = planner_->Next(now_ns, worker->id);
  const bool any_refused = !decision.refused.empty();
  std::move(decision.refused.begin(), decision.refused.end(), std::back_inserter(plan->refused));
  if (!decision.batch) {
    *wake_ns = std::min(*wake_ns, decision.wake_ns);
    // The planner had no batch after all (its requests were refused by Next): the permit goes back.
    if (permits_ != nullptr) {
      permits_->Release(worker->instance.runner, false);
      plan->settle_permits = true;
    }
    // All that was ready for this instance was cancelled, which may have freed a slot for a
    // sequence of another instance: look again.
    return any_refused && planner_->IsPerInstance();
  }
  StartLocked(*worker, std::move(*decision.batch), now_ns, plan);
  return true;
}

InstanceScheduler::Worker* InstanceScheduler::ChooseWorkerLocked(uint64_t now_ns, uint64_t* wake_ns,
                                                                 Plan* plan) {
  // A permit that is held while a batch can still grow blocks other models, so with permits only
  // workers with a ready batch are considered. With instances that differ, a worker that has no
  // batch must be skipped. Otherwise any idle worker will do.
  if (permits_ == nullptr && !planner_->IsPerInstance()) return idle_.back();
  planner_->Expire(now_ns, &plan->refused);
  const std::vector<Worker*> ready = ReadyWorkersLocked(now_ns, wake_ns);
  if (ready.empty() || permits_ == nullptr) return ready.empty() ? nullptr : ready.front();
  std::vector<BatchRunner*> runners;
  for (const Worker* worker : ready) runners.push_back(worker->instance.runner);
  return FindIdleLocked(permits_->TryAcquire(runners, *this));
}

std::vector<InstanceScheduler::Worker*> InstanceScheduler::ReadyWorkersLocked(uint64_t now_ns,
                                                                              uint64_t* wake_ns) {
  *wake_ns = kNever;
  std::vector<Worker*> ready;
  for (Worker* worker : idle_) {
    const uint64_t ready_ns = planner_->ReadyAt(now_ns, worker->id);
    if (ready_ns <= now_ns) {
      ready.push_back(worker);
    } else {
      *wake_ns = std::min(*wake_ns, ready_ns);
    }
  }
  return ready;
}

InstanceScheduler::Worker* InstanceScheduler::FindIdleLocked(const BatchRunner* runner) const {
  const auto found = std::find_if(idle_.begin(), idle_.end(), [runner](const Worker* worker) {
    return worker->instance.runner == runner;
  });
  return found == idle_.end() ? nullptr : *found;
}

void InstanceScheduler::StartLocked(Worker& worker, Batch batch, uint64_t now_ns, Plan* plan) {
  if (idle_.back() == &worker) {
    idle_.pop_back();
  } else {
    std::erase(idle_, &worker);
  }
  worker.busy_since_ns = std::max<uint64_t>(1, now_ns);
  if (watchdog_ns_ != 0) watchdog_timer_.WakeAt(now_ns + watchdog_ns_);
  // The first batch of a plan stays in the plan: its worker may be the calling thread itself, or
  // the thread may run it inline. CarryOut hands it over otherwise.
  if (plan->worker == nullptr) {
    plan->worker = &worker;
    plan->batch = std::move(batch);
  } else {
    worker.batch = std::move(batch);
    worker.ready.notify_one();
  }
}

InstanceScheduler::Plan InstanceScheduler::FinishLocked(Worker& worker) {
  worker.busy_since_ns = 0;
  worker.reported_stuck = false;
  planner_->OnExecuted(worker.executed_size, worker.executed_wait_ns, worker.executed_ns);
  if (worker.leaving) {
    worker_free_.notify_all();
  } else {
    idle_.push_back(&worker);
  }
  if (permits_ == nullptr) return PlanLocked(clock_.NowNs());
  // Release, plan, settle: PlanLocked puts this model into the line again before Settle grants what
  // this permit has freed, so the order in the line decides and not the order of events.
  permits_->Release(worker.instance.runner, true);
  Plan plan = PlanLocked(clock_.NowNs());
  plan.settle_permits = true;
  return plan;
}

void InstanceScheduler::CarryOut(Plan plan, std::unique_lock<std::mutex>& lock) {
  // The worker is notified after the unlock, because it would otherwise wait for the lock at once.
  // It may find the batch without the notification, run it and be removed before notify_one; the
  // shared_ptr keeps it alive until then.
  std::shared_ptr<Worker> woken;
  if (plan.batch) {
    woken = plan.worker->shared_from_this();
    woken->batch = std::move(plan.batch);
  }
  lock.unlock();
  if (woken != nullptr) woken->ready.notify_one();
  if (plan.settle_permits) permits_->Settle();
  Answer(std::move(plan.refused));
}

void InstanceScheduler::Answer(std::vector<Refusal> refused) {
  for (Refusal& refusal : refused) {
    refusal.request->cancellation()->SetListener(nullptr);
    observer_.OnRefused(*refusal.request, refusal.reason);
    // GiveUp before the refusal is sent: a refusal does not wait for earlier responses.
    if (order_ != nullptr) order_->GiveUp(*refusal.request->response_factory());
    request::RefuseRequest(std::move(refusal.request), std::move(refusal.error));
  }
}

void InstanceScheduler::CompleteBatch(Batch* batch) {
  for (const RequestPtr& request : batch->requests) {
    if (request == nullptr || request->sequence_handle == 0) continue;
    // From here on the release of the request is reported to the planner (OnReleased).
    request->response_factory()->MarkHandedOut();
    request->release_listener = this;
  }
  std::vector<Refusal> failed;
  planner_->Complete(batch, &failed);
  if (failed.empty()) return;
  std::vector<Refusal> refused;
  {
    std::lock_guard lock(mutex_);
    const uint64_t now = clock_.NowNs();
    for (Refusal& refusal : failed) planner_->OnFailed(*refusal.request, now, &refused);
  }
  Answer(std::move(failed));
  Answer(std::move(refused));
}

void InstanceScheduler::WorkerLoop(Worker& worker) {
  std::unique_lock lock(mutex_);
  for (;;) {
    // A worker is stopped only while it has no batch, so a batch is never lost.
    worker.ready.wait(lock, [&] { return worker.batch.has_value() || worker.stop; });
    if (!worker.batch) return;
    std::optional<Batch> batch = std::exchange(worker.batch, std::nullopt);
    while (batch) {
      lock.unlock();
      const uint64_t input_bytes = InputBytes(*batch);
      RunBatch(worker, std::move(*batch), input_bytes);
      lock.lock();
      Plan plan = FinishLocked(worker);
      batch.reset();
      // A batch for this worker stays on this thread, without a hand-over.
      if (plan.worker == &worker) batch.swap(plan.batch);
      if (!plan.IsDone()) {
        CarryOut(std::move(plan), lock);
        lock.lock();
      }
    }
  }
}

void InstanceScheduler::RunBatch(Worker& worker, Batch batch, uint64_t input_bytes) {
  for (const RequestPtr& request : batch.requests) {
    // From here the backend decides what a cancellation means. Waits for an OnCancelled in
    // progress.
    if (request != nullptr) request->cancellation()->SetListener(nullptr);
  }
  if (planner_->IsPerInstance()) CompleteBatch(&batch);
  // CompleteBatch may have emptied the batch; it still counts as executed, so that FinishLocked
  // makes the worker idle.
  const uint64_t start = clock_.NowNs();
  const uint64_t wait = start - std::min(start, batch.oldest_arrival_ns);
  const uint64_t batch_size = batch.batch_size;
  LOG_VERBOSE(1) << "model '" << model_name_ << "', instance '" << worker.instance.name
                 << "': batch of " << batch.requests.size() << " request(s), size "
                 << batch.batch_size << ": " << BatchReasonText(batch.reason)
                 << "; the oldest waited " << wait / 1000 << " us, " << batch.left_in_queue
                 << " left in the queue";
  TraceBatch(batch, start);
  observer_.OnBatchClosed(batch.reason, batch.requests.size(), batch.batch_size);
  if (!batch.requests.empty()) worker.instance.runner->Run(std::move(batch));
  const uint64_t end = clock_.NowNs();
  const uint64_t elapsed = end - start;
  inline_policy_.Record(input_bytes, elapsed, end);
  worker.executed_size = batch_size;
  worker.executed_wait_ns = wait;
  worker.executed_ns = elapsed;
  if (watchdog_ns_ != 0 && elapsed >= watchdog_ns_) {
    LOG_WARNING << LateEndMessage({model_name_, worker.instance.name}, elapsed, watchdog_ns_);
  }
}

void InstanceScheduler::WarnOfSurprise(const Worker& worker) const {
  if (inline_policy_.mode() != InlineMode::kAuto) return;  // the operator asked for inline running
  LOG_WARNING << HeldLoopMessage(model_name_, worker.executed_ns);
}

std::string InstanceScheduler::DescribeStuckLocked(const Worker& worker, uint64_t now_ns) const {
  return StuckMessage({model_name_, worker.instance.name}, now_ns - worker.busy_since_ns,
                      watchdog_ns_, /*taken_up=*/!worker.batch.has_value());
}

Status InstanceScheduler::CheckProgress() const {
  if (watchdog_ns_ == 0) return Status::Ok();
  std::lock_guard lock(mutex_);
  const uint64_t now = clock_.NowNs();
  for (const auto& worker : workers_) {
    if (worker->IsStuck(now, watchdog_ns_)) {
      return Status::Unavailable(DescribeStuckLocked(*worker, now));
    }
  }
  return Status::Ok();
}

void InstanceScheduler::OnWatchdog() {
  std::vector<std::string> reports;
  {
    std::lock_guard lock(mutex_);
    const uint64_t now = clock_.NowNs();
    for (const auto& worker : workers_) {
      if (worker->busy_since_ns == 0 || worker->reported_stuck) continue;
      if (worker->IsStuck(now, watchdog_ns_)) {
        worker->reported_stuck = true;
        reports.push_back(DescribeStuckLocked(*worker, now));
      } else {
        // The timer calls once for the earliest time, so it is set again for every busy worker.
        watchdog_timer_.WakeAt(worker->busy_since_ns + watchdog_ns_);
      }
    }
  }
  for (const std::string& report : reports) LOG_ERROR << report;
}

}  // namespace nereid::schedule
