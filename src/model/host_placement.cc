// SPDX-License-Identifier: Apache-2.0
#include "model/host_placement.h"

#include <optional>

#include "base/parse_number.h"

namespace nereid::model {

using base::CpuPlacement;
using base::Status;

namespace {

base::Result<CpuPlacement> Read(const std::map<std::string, std::string>& settings) {
  CpuPlacement placement;
  if (const auto node = settings.find("numa-node"); node != settings.end()) {
    const auto number = base::ParseWhole<int>(node->second);
    if (!number || *number < 0) {
      return Status::InvalidArgument("numa-node is '" + node->second +
                                     "', but must be the number of a node");
    }
    placement.numa_node = *number;
  }
  if (const auto cores = settings.find("cpu-cores"); cores != settings.end()) {
    NEREID_ASSIGN_OR_RETURN(placement.cpus, base::ParseCpuList(cores->second));
  } else if (placement.numa_node) {
    NEREID_ASSIGN_OR_RETURN(placement.cpus, base::CpusOfNode(*placement.numa_node));
  }
  NEREID_RETURN_IF_ERROR(base::CheckPlacement(placement));
  return placement;
}

}  // namespace

base::Result<CpuPlacement> PlacementOf(const HostPolicies& policies, const std::string& policy) {
  const auto found = policies.find(policy);
  if (found == policies.end()) return CpuPlacement{};
  auto placement = Read(found->second);
  if (placement.ok()) return placement;
  return Status(placement.status().code(),
                "host policy '" + policy + "': " + placement.status().message());
}

base::Result<CpuPlacement> CommonPlacement(const HostPolicies& policies,
                                           const config::ModelConfig& config) {
  std::optional<CpuPlacement> common;
  for (const config::InstanceGroup& group : config.instance_groups()) {
    const std::vector<int32_t> devices =
        group.kind == config::InstanceKind::kGpu ? group.gpus : std::vector<int32_t>{0};
    for (const int32_t device : devices) {
      NEREID_ASSIGN_OR_RETURN(CpuPlacement placement,
                              PlacementOf(policies, HostPolicyName(group, device)));
      if (common && *common != placement) return CpuPlacement{};
      common = std::move(placement);
    }
  }
  return common.value_or(CpuPlacement{});
}

}  // namespace nereid::model
