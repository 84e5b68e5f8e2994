// SPDX-License-Identifier: Apache-2.0
#include "schedule/make_scheduler.h"

#include "schedule/direct/direct_planner.h"
#include "schedule/dynamic/dynamic_planner.h"
#include "schedule/instance_scheduler.h"

namespace nereid::schedule {

std::unique_ptr<Scheduler> MakeScheduler(const config::ModelConfig& config,
                                         std::vector<SchedulerInstance> instances,
                                         const SchedulerEnvironment& environment) {
  std::unique_ptr<BatchPlanner> planner;
  if (config.dynamic_batching()) {
    planner = std::make_unique<DynamicPlanner>(config);
  } else {
    planner = std::make_unique<DirectPlanner>();
  }
  return std::make_unique<InstanceScheduler>(config.name(), std::move(planner),
                                             std::move(instances), environment);
}

}  // namespace nereid::schedule
