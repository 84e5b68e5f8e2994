// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/stages.h"
#include "schedule/worker_pool.h"

namespace nereid::schedule {

/// The state of a scheduler at one moment, for the watchdog.
struct SchedulerView {
  const WorkerPool& workers;
  size_t queued = 0;
  uint64_t wake_ns = UINT64_MAX;  // when time alone brings work; kNever: it does not
  uint64_t plans = 0;             // how often the planner was asked
  /// Whether queued requests may wait for something else than a free instance: a sequence, a
  /// permit, a limit.
  bool may_wait = false;
};

/// Finds out whether a scheduler makes progress. An execution that takes long is work and no lack
/// of progress. Blocked are: a batch that its instance does not take up, a time at which nothing
/// was planned, and requests that wait beside a free instance although nothing keeps them. Not
/// thread-safe.
class SchedulerProgress {
 public:
  base::StageSample Sample(const SchedulerView& view, uint64_t now_ns);

 private:
  uint64_t seen_plans_ = 0;
  uint64_t forgotten_since_ns_ = 0;  // requests wait beside a free instance; 0: none do
};

}  // namespace nereid::schedule
