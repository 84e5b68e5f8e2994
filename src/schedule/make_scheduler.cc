// SPDX-License-Identifier: Apache-2.0
#include "schedule/make_scheduler.h"

#include "schedule/direct/direct_planner.h"
#include "schedule/dynamic/dynamic_planner.h"
#include "schedule/instance_scheduler.h"
#include "schedule/sequence/sequence_planner.h"

namespace nereid::schedule {

std::unique_ptr<Scheduler> MakeScheduler(const config::ModelConfig& config,
                                         std::vector<SchedulerInstance> instances,
                                         const SchedulerEnvironment& environment) {
  std::unique_ptr<BatchPlanner> planner;
  std::shared_ptr<ResponseOrder> order;
  if (config.sequence_batching()) {
    planner = std::make_unique<SequencePlanner>(config, environment.sequence_inputs);
  } else if (config.dynamic_batching()) {
    auto dynamic = std::make_unique<DynamicPlanner>(config, environment.batch_limits);
    dynamic->SetStrategy(environment.batch_strategy);
    planner = std::move(dynamic);
    if (config.dynamic_batching()->preserve_ordering) order = std::make_shared<ResponseOrder>();
  } else {
    planner = std::make_unique<DirectPlanner>();
  }
  return std::make_unique<InstanceScheduler>(config.name(), std::move(planner), std::move(order),
                                             std::move(instances), environment);
}

}  // namespace nereid::schedule
