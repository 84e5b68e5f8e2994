// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/cpus.h"
#include "base/result.h"
#include "config/model_config.h"
#include "model/instance_plan.h"

namespace nereid::model {

/// Where the host policy `policy` puts the threads of a CPU instance: on cpu-cores, else on the
/// CPUs of numa-node, with memory of that node; anywhere where the policy says nothing.
/// INVALID_ARG, naming the policy, for what this machine does not have.
base::Result<base::CpuPlacement> PlacementOf(const HostPolicies& policies,
                                             const std::string& policy);

/// Where all instances of a model run, if that is the same for each of them and they are on CPUs;
/// anywhere otherwise. What a framework starts for the whole model belongs there.
base::Result<base::CpuPlacement> CommonPlacement(const HostPolicies& policies,
                                                 const config::ModelConfig& config);

}  // namespace nereid::model
