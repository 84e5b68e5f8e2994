// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/timer_queue.h"
#include "config/model_config.h"
#include "request/sequence_inputs.h"
#include "schedule/adaptive/batch_limits.h"
#include "schedule/dynamic/batch_strategy.h"
#include "schedule/execution_permits.h"
#include "schedule/inline_policy.h"
#include "schedule/scheduler.h"
#include "schedule/scheduler_observer.h"
#include "schedule/start_gate.h"

namespace nereid::schedule {

/// What a scheduler works with. Everything must outlive it.
struct SchedulerEnvironment {
  const base::Clock& clock;
  base::TimerQueue& timers;
  SchedulerObserver& observer;
  InlineMode inline_mode = InlineMode::kAuto;
  /// An execution that takes longer is reported as stuck (Scheduler::CheckProgress); 0 = never.
  uint64_t watchdog_ns = 0;
  /// Asked before each execution; null where instances share nothing.
  ExecutionPermits* permits = nullptr;
  /// Bounds of dynamic batches that are learned; null where the configuration says them.
  std::shared_ptr<BatchLimits> batch_limits = nullptr;
  /// Has a say in dynamic batches; null for most models.
  std::shared_ptr<BatchStrategy> batch_strategy = nullptr;
  /// What the requests of sequences get; null for models without sequences.
  std::shared_ptr<const request::SequenceInputs> sequence_inputs = nullptr;
  /// Until then dynamic batches and sequences wait.
  StartConditions start = {};
};

/// The scheduler that the configuration asks for (default, dynamic batching or sequences), over
/// these instances. `config` must outlive it. INVALID_ARGUMENT for a parameter of the model that
/// says nothing, UNAVAILABLE when there are no threads for the instances.
base::Result<std::unique_ptr<Scheduler>> MakeScheduler(const config::ModelConfig& config,
                                                       std::vector<SchedulerInstance> instances,
                                                       const SchedulerEnvironment& environment);

}  // namespace nereid::schedule
