// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "backend/backend_instance.h"
#include "base/result.h"
#include "config/model_config.h"
#include "schedule/limits/rate_limiter.h"

namespace nereid::model {

/// Settings (numa-node, cpu-cores) by the name of a host policy.
using HostPolicies = std::map<std::string, std::map<std::string, std::string>>;

/// Returns the name of the host policy of a group's instances on a device: the group's own, else
/// the default of its kind ("cpu", "gpu_<device>", "model").
std::string HostPolicyName(const config::InstanceGroup& group, int32_t device_id);

/// One instance that a configuration asks for.
struct InstanceSpec {
  backend::BackendInstance::Description description;
  /// The resources that an execution needs, for the rate limiter.
  schedule::LimitedInstance limits;
  std::string host_policy;
  /// The UUID of the GPU of the instance; "" if it is on none, or the server does not know it.
  std::string gpu_uuid;
  /// Identifies everything that matters for an instance: its group, without name and count, and its
  /// device. Instances with equal signatures can replace each other.
  std::string signature;
};

/// The maximum number of instances of a version. Each has a thread and the backend's own resources.
inline constexpr uint64_t kMaxInstances = 16'384;

/// Returns the instances of all groups, in order. The groups must have been completed. Returns
/// INVALID_ARGUMENT for more than kMaxInstances.
base::Result<std::vector<InstanceSpec>> ExpandInstanceGroups(const config::ModelConfig& config,
                                                             const HostPolicies& host_policies);

/// An instance that exists.
struct ExistingInstance {
  std::string name;
  std::string signature;
};

/// The steps from the existing instances to the wanted ones.
struct InstanceChanges {
  std::vector<size_t> keep;    // indices of existing instances, ascending
  std::vector<size_t> remove;  // indices of existing instances, ascending
  std::vector<size_t> create;  // indices of wanted instances, ascending
};

/// Returns changes that keep as many instances as possible, preferably under their own names.
InstanceChanges PlanInstanceChanges(const std::vector<ExistingInstance>& existing,
                                    const std::vector<InstanceSpec>& wanted);

}  // namespace nereid::model
