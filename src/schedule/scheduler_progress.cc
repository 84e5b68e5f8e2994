// SPDX-License-Identifier: Apache-2.0
#include "schedule/scheduler_progress.h"

#include <string>

namespace nereid::schedule {
namespace {

/// Sets the time to the earlier one; 0 is none. Returns whether `since_ns` is the earlier one.
bool TakeEarlier(uint64_t since_ns, uint64_t* earliest_ns) {
  if (*earliest_ns != 0 && *earliest_ns <= since_ns) return false;
  *earliest_ns = since_ns;
  return true;
}

/// Looks at the instances with a batch.
void AddWorkers(const WorkerPool& workers, base::StageSample* sample) {
  const std::string* idle_with_batch = nullptr;
  const std::string* executing = nullptr;
  for (const auto& worker : workers.all()) {
    if (worker->busy_since_ns == 0) continue;
    if (worker->batch) {
      if (TakeEarlier(worker->busy_since_ns, &sample->blocked_since_ns)) {
        idle_with_batch = &worker->instance.name;
      }
      continue;
    }
    // An execution that holds an event loop comes before all others.
    if (worker->is_inline != sample->works_on_loop) {
      if (!worker->is_inline) continue;
      sample->works_on_loop = true;
      sample->working_since_ns = 0;
    }
    if (TakeEarlier(worker->busy_since_ns, &sample->working_since_ns)) {
      executing = &worker->instance.name;
    }
  }
  if (idle_with_batch != nullptr) {
    sample->detail = "instance '" + *idle_with_batch + "' does not take up its batch";
  } else if (executing != nullptr) {
    sample->detail = "instance '" + *executing + "'";
  }
}

}  // namespace

base::StageSample SchedulerProgress::Sample(const SchedulerView& view, uint64_t now_ns) {
  base::StageSample sample;
  AddWorkers(view.workers, &sample);
  if (view.wake_ns < now_ns && TakeEarlier(view.wake_ns, &sample.blocked_since_ns)) {
    sample.detail = std::to_string(view.queued) + " requests wait, and their time has passed";
  }
  const bool forgotten = view.queued > 0 && !view.workers.idle().empty() && !view.may_wait &&
                         view.wake_ns == kNever && view.plans == seen_plans_;
  seen_plans_ = view.plans;
  if (!forgotten) {
    forgotten_since_ns_ = 0;
    return sample;
  }
  if (forgotten_since_ns_ == 0) forgotten_since_ns_ = now_ns;
  if (TakeEarlier(forgotten_since_ns_, &sample.blocked_since_ns)) {
    sample.detail = std::to_string(view.queued) + " requests wait beside a free instance";
  }
  return sample;
}

}  // namespace nereid::schedule
