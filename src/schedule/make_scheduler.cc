// SPDX-License-Identifier: Apache-2.0
#include "schedule/make_scheduler.h"

#include <utility>

#include "schedule/direct/direct_planner.h"
#include "schedule/dynamic/dynamic_planner.h"
#include "schedule/instance_scheduler.h"
#include "schedule/sequence/sequence_planner.h"

namespace nereid::schedule {

base::Result<std::unique_ptr<Scheduler>> MakeScheduler(const config::ModelConfig& config,
                                                       std::vector<SchedulerInstance> instances,
                                                       const SchedulerEnvironment& environment) {
  std::unique_ptr<BatchPlanner> planner;
  SequenceHooks* sequences = nullptr;
  std::shared_ptr<ResponseOrder> order;
  NEREID_RETURN_IF_ERROR(DynamicPlanner::CheckParameters(config));
  if (config.sequence_batching()) {
    auto sequence_planner =
        std::make_unique<SequencePlanner>(config, environment.sequence_inputs, environment.start);
    sequences = sequence_planner.get();
    planner = std::move(sequence_planner);
  } else if (config.dynamic_batching()) {
    auto dynamic = std::make_unique<DynamicPlanner>(config, environment.batch_limits);
    dynamic->SetStrategy(environment.batch_strategy);
    dynamic->SetStartConditions(environment.start);
    planner = std::move(dynamic);
    if (config.dynamic_batching()->preserve_ordering) order = std::make_shared<ResponseOrder>();
  } else {
    planner = std::make_unique<DirectPlanner>();
  }
  std::unique_ptr<Scheduler> scheduler = std::make_unique<InstanceScheduler>(
      config.name(), std::move(planner), sequences, std::move(order), environment);
  NEREID_RETURN_IF_ERROR(scheduler->AddInstances(std::move(instances)));
  return scheduler;
}

}  // namespace nereid::schedule
