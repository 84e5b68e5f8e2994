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

/// The name of the host policy of a group's instances on a device: its own, else its kind's.
std::string HostPolicyName(const config::InstanceGroup& group, int32_t device_id);

/// One instance that a configuration asks for.
struct InstanceSpec {
  backend::BackendInstance::Description description;
  /// What an execution needs where the server limits rates.
  schedule::LimitedInstance limits;
  std::string host_policy;
  /// Everything that makes an instance what it is: its group but for name and count, and its
  /// device. Instances with equal signatures can stand in for each other.
  std::string signature;
};

/// How many instances a version may have. Each has a thread, and what the backend makes for it.
inline constexpr uint64_t kMostInstances = 16'384;

/// The instances of all groups, in order. The groups must have been completed. INVALID_ARGUMENT for
/// more than kMostInstances.
base::Result<std::vector<InstanceSpec>> ExpandInstanceGroups(const config::ModelConfig& config,
                                                             const HostPolicies& host_policies);

/// An instance that exists.
struct ExistingInstance {
  std::string name;
  std::string signature;
};

/// How to get from the instances that exist to those that are wanted.
struct InstanceChanges {
  std::vector<size_t> keep;    // indices of existing ones, ascending
  std::vector<size_t> remove;  // indices of existing ones, ascending
  std::vector<size_t> create;  // indices of wanted ones, ascending
};

/// Keeps as many as possible, first those whose name is wanted too.
InstanceChanges PlanInstanceChanges(const std::vector<ExistingInstance>& existing,
                                    const std::vector<InstanceSpec>& wanted);

}  // namespace nereid::model
