// SPDX-License-Identifier: Apache-2.0
#include "schedule/instance_scheduler.h"

#include "base/log.h"
#include "base/threads.h"

namespace nereid::schedule {

InstanceScheduler::InstanceScheduler(std::string model_name, std::unique_ptr<BatchPlanner> planner,
                                     std::vector<SchedulerInstance> instances,
                                     const SchedulerEnvironment& environment)
    : model_name_(std::move(model_name)),
      inline_policy_(environment.inline_mode),
      clock_(environment.clock),
      timers_(environment.timers),
      observer_(environment.observer),
      planner_(std::move(planner)) {
  AddInstances(std::move(instances));
}

void InstanceScheduler::AddInstances(std::vector<SchedulerInstance> instances) {
  std::lock_guard lock(mutex_);
  for (SchedulerInstance& instance : instances) {
    auto& worker = workers_.emplace_back(std::make_unique<Worker>());
    worker->runner = instance.runner;
    idle_.push_back(worker.get());
    worker->thread = base::StartThread(instance.name, [this, w = worker.get()] { WorkerLoop(*w); });
  }
}

InstanceScheduler::~InstanceScheduler() {
  std::set<base::TimerQueue::TimerId> timers;
  {
    std::unique_lock lock(mutex_);
    accepting_ = false;
    all_idle_.wait(lock, [this] {
      return workers_.empty() || (planner_->size() == 0 && idle_.size() == workers_.size());
    });
    stopping_ = true;
    timers = set_timers_;
    for (const auto& worker : workers_) worker->ready.notify_one();
  }
  for (const base::TimerQueue::TimerId timer : timers) timers_.Cancel(timer);
  for (const auto& worker : workers_) worker->thread.join();
}

base::Status InstanceScheduler::Enqueue(RequestPtr& request) {
  const bool may_run_inline = request->may_run_inline;
  std::unique_lock lock(mutex_);
  if (!accepting_) {
    return base::Status::Unavailable(request->LogPrefix() +
                                     "Server is stopping, scheduler for model has stopped "
                                     "accepting new inference requests");
  }
  if (workers_.empty()) {
    return base::Status::Unavailable(request->LogPrefix() + "model '" + model_name_ +
                                     "' has only passive instances");
  }
  const uint64_t now = clock_.NowNs();
  request->times.queue_ns = now;
  planner_->Push(std::move(request), now);
  if (idle_.empty()) return base::Status::Ok();

  Worker& worker = *idle_.back();
  idle_.pop_back();
  std::optional<Batch> batch = PlanLocked(worker);
  if (!batch) return base::Status::Ok();
  if (!may_run_inline || !inline_policy_.RunInline()) {
    HandOver(worker, std::move(*batch), lock);
    return base::Status::Ok();
  }
  lock.unlock();
  RunBatch(worker, std::move(*batch));
  lock.lock();
  // Only what this thread brought runs here: what has arrived meanwhile is the instance's.
  if (std::optional<Batch> next = PlanLocked(worker)) HandOver(worker, std::move(*next), lock);
  return base::Status::Ok();
}

void InstanceScheduler::StopAccepting() {
  std::lock_guard lock(mutex_);
  accepting_ = false;
}

size_t InstanceScheduler::PendingCount() const {
  std::lock_guard lock(mutex_);
  return planner_->size();
}

std::optional<Batch> InstanceScheduler::PlanLocked(Worker& worker) {
  Decision decision = planner_->Next(clock_.NowNs());
  if (!decision.batch) {
    idle_.push_back(&worker);
    if (decision.wake_ns != 0) SetTimerLocked(decision.wake_ns);
    if (idle_.size() == workers_.size() && planner_->size() == 0) all_idle_.notify_all();
  }
  return std::move(decision.batch);
}

void InstanceScheduler::HandOver(Worker& worker, Batch batch, std::unique_lock<std::mutex>& lock) {
  worker.batch = std::move(batch);
  lock.unlock();
  worker.ready.notify_one();
}

void InstanceScheduler::SetTimerLocked(uint64_t wake_ns) {
  // A timer that fires early does no harm: the planner is asked and waits on. So one that is due
  // sooner is left in place, and only an earlier deadline needs a timer of its own.
  if (wake_ns_ != 0 && wake_ns_ <= wake_ns) return;
  wake_ns_ = wake_ns;
  // The callback learns its id from a place that is filled in once Schedule returns; it reads it
  // under the lock, which is held here.
  auto id = std::make_shared<base::TimerQueue::TimerId>(0);
  *id = timers_.Schedule(wake_ns, [this, id] { OnTimer(*id); });
  set_timers_.insert(*id);
}

void InstanceScheduler::OnTimer(const base::TimerQueue::TimerId& id) {
  std::unique_lock lock(mutex_);
  set_timers_.erase(id);
  wake_ns_ = 0;
  if (stopping_ || idle_.empty()) return;
  Worker& worker = *idle_.back();
  idle_.pop_back();
  if (std::optional<Batch> batch = PlanLocked(worker)) HandOver(worker, std::move(*batch), lock);
}

void InstanceScheduler::WorkerLoop(Worker& worker) {
  std::unique_lock lock(mutex_);
  for (;;) {
    worker.ready.wait(lock, [&] { return worker.batch.has_value() || stopping_; });
    if (!worker.batch) return;
    std::optional<Batch> batch = std::move(worker.batch);
    worker.batch.reset();
    while (batch) {
      lock.unlock();
      RunBatch(worker, std::move(*batch));
      lock.lock();
      batch = PlanLocked(worker);
    }
  }
}

void InstanceScheduler::RunBatch(Worker& worker, Batch batch) {
  LOG_VERBOSE(1) << "model '" << model_name_ << "': executing " << batch.requests.size()
                 << " request(s): " << BatchReasonText(batch.reason);
  const uint64_t start = clock_.NowNs();
  worker.runner->Run(std::move(batch));
  inline_policy_.Record(clock_.NowNs() - start);
}

}  // namespace nereid::schedule
