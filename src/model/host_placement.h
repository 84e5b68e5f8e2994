// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/cpus.h"
#include "base/result.h"
#include "config/model_config.h"
#include "model/instance_plan.h"

namespace nereid::model {

/// Returns where the host policy `policy` puts the threads of an instance: on cpu-cores, else on
/// the CPUs of numa-node, with memory of that node; an empty placement (anywhere) if the policy
/// says nothing. Returns INVALID_ARGUMENT, naming the policy, for CPUs or nodes that this machine
/// lacks.
base::Result<base::CpuPlacement> PlacementOf(const HostPolicies& policies,
                                             const std::string& policy);

/// Returns the placement of all instances of a model if all have the same, else an empty one.
/// Threads that a framework starts for the whole model belong there.
base::Result<base::CpuPlacement> CommonPlacement(const HostPolicies& policies,
                                                 const config::ModelConfig& config);

}  // namespace nereid::model
