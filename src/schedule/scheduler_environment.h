// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "base/clock.h"
#include "base/timer_queue.h"
#include "request/sequence_inputs.h"
#include "schedule/adaptive/batch_limits.h"
#include "schedule/dynamic/batch_strategy.h"
#include "schedule/execution_permits.h"
#include "schedule/inline_policy.h"
#include "schedule/scheduler_observer.h"
#include "schedule/start_gate.h"

namespace nereid::schedule {

/// The objects and settings that a scheduler uses. Everything referenced must outlive it.
struct SchedulerEnvironment {
  const base::Clock& clock;
  base::TimerQueue& timers;
  SchedulerObserver& observer;
  InlineMode inline_mode = InlineMode::kAuto;
  /// An execution that takes longer is reported as stuck (Scheduler::CheckProgress). 0: none is.
  uint64_t watchdog_ns = 0;
  /// Grants each execution; null where instances share nothing.
  ExecutionPermits* permits = nullptr;
  /// Learned limits of dynamic batches; null where the configuration gives the limits.
  std::shared_ptr<BatchLimits> batch_limits = nullptr;
  /// Takes part in closing dynamic batches; null for most models.
  std::shared_ptr<BatchStrategy> batch_strategy = nullptr;
  /// The tensors that the server adds to requests of sequences; null for models without sequences.
  std::shared_ptr<const request::SequenceInputs> sequence_inputs = nullptr;
  /// Dynamic batches and sequences wait until these are met.
  StartConditions start = {};
};

}  // namespace nereid::schedule
