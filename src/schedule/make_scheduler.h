// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "config/model_config.h"
#include "schedule/scheduler.h"
#include "schedule/scheduler_environment.h"

namespace nereid::schedule {

/// Creates the scheduler that the configuration selects (default, dynamic batching or sequences)
/// and adds `instances` to it. `config` must outlive the scheduler. Returns INVALID_ARGUMENT for a
/// model parameter with a bad value, and UNAVAILABLE when the threads of the instances cannot be
/// started.
base::Result<std::unique_ptr<Scheduler>> MakeScheduler(const config::ModelConfig& config,
                                                       std::vector<SchedulerInstance> instances,
                                                       const SchedulerEnvironment& environment);

}  // namespace nereid::schedule
