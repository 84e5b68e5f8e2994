// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/timer_queue.h"
#include "schedule/batch_planner.h"
#include "schedule/inline_policy.h"
#include "schedule/make_scheduler.h"
#include "schedule/scheduler.h"

namespace nereid::schedule {

/// Drives a planner: the direct scheduler and the dynamic batcher, over all instances of a model.
/// There is no scheduler thread. Whoever brings an event (a request, a free instance, a timer) runs
/// the planner under the lock and hands the batch over; an instance that finishes plans its own
/// next batch. The lock is never held while a batch runs.
class InstanceScheduler final : public Scheduler {
 public:
  InstanceScheduler(std::string model_name, std::unique_ptr<BatchPlanner> planner,
                    std::vector<SchedulerInstance> instances,
                    const SchedulerEnvironment& environment);

  /// Waits until everything queued has run. Must not be called from an instance's own thread.
  ~InstanceScheduler() override;

  base::Status Enqueue(RequestPtr& request) override;
  void AddInstances(std::vector<SchedulerInstance> instances) override;
  void StopAccepting() override;
  size_t PendingCount() const override;

 private:
  struct Worker {
    BatchRunner* runner = nullptr;
    std::condition_variable ready;
    std::optional<Batch> batch;  // guarded by mutex_: handed over, not yet taken
    std::thread thread;
  };

  void WorkerLoop(Worker& worker);
  void RunBatch(Worker& worker, Batch batch);
  /// Plans for one free worker. With a batch, the caller runs it or hands it over; without, the
  /// worker is idle and a timer is set if time will change the answer. mutex_ must be held.
  std::optional<Batch> PlanLocked(Worker& worker);
  /// Releases the lock before it wakes the worker, which would otherwise wait for it at once.
  void HandOver(Worker& worker, Batch batch, std::unique_lock<std::mutex>& lock);
  void SetTimerLocked(uint64_t wake_ns);
  void OnTimer(const base::TimerQueue::TimerId& id);

  const std::string model_name_;
  InlinePolicy inline_policy_;
  const base::Clock& clock_;
  base::TimerQueue& timers_;
  SchedulerObserver& observer_;

  mutable std::mutex mutex_;
  std::unique_ptr<BatchPlanner> planner_;           // guarded by mutex_
  std::vector<std::unique_ptr<Worker>> workers_;    // fixed after construction
  std::vector<Worker*> idle_;                       // guarded by mutex_
  bool accepting_ = true;                           // guarded by mutex_
  bool stopping_ = false;                           // guarded by mutex_
  uint64_t wake_ns_ = 0;                            // guarded by mutex_: the next timer, 0 = none
  std::set<base::TimerQueue::TimerId> set_timers_;  // guarded by mutex_: not fired yet
  std::condition_variable all_idle_;  // signalled when the last busy worker turns idle
};

}  // namespace nereid::schedule
