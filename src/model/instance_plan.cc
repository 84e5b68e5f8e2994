// SPDX-License-Identifier: Apache-2.0
#include "model/instance_plan.h"

#include <algorithm>
#include <optional>

#include "base/json_writer.h"
#include "model_config.pb.h"

namespace nereid::model {

using config::InstanceKind;

namespace {

/// Returns {"<policy>":{"<setting>":"<value>"}}, the form that backends get.
std::string HostPolicyJson(const HostPolicies& policies, const std::string& policy) {
  std::string json;
  base::JsonWriter writer(&json);
  writer.BeginObject().Key(policy);
  if (const auto found = policies.find(policy); found != policies.end()) {
    writer.StringMap(found->second);
  } else {
    writer.BeginObject().EndObject();
  }
  writer.EndObject();
  return json;
}

/// Instances that are not on a GPU share device 0.
schedule::LimitedInstance LimitsOf(const config::InstanceGroup& group, int32_t device_id) {
  schedule::LimitedInstance limits;
  limits.device = group.kind == InstanceKind::kGpu ? device_id : 0;
  limits.priority = group.rate_limiter_priority;
  for (const config::RateLimiterResource& resource : group.rate_limiter_resources) {
    limits.needs.push_back({resource.name, resource.global, resource.count});
  }
  return limits;
}

std::string Signature(inference::ModelInstanceGroup group, int32_t device_id) {
  group.clear_name();
  group.clear_count();
  group.clear_gpus();
  // The message has no maps, so its bytes are the same for the same contents.
  return std::to_string(device_id) + ' ' + group.SerializeAsString();
}

/// Checks the number of instances before anything is allocated for them.
base::Status CheckCounts(const config::ModelConfig& config) {
  uint64_t sum = 0;
  for (const config::InstanceGroup& group : config.instance_groups()) {
    const uint64_t devices = group.kind == InstanceKind::kGpu ? group.gpus.size() : 1;
    sum += static_cast<uint64_t>(std::max(0, group.count)) * devices;
    if (sum <= kMaxInstances) continue;
    return base::Status::InvalidArgument(
        "instance group '" + group.name + "' of model '" + config.name() + "' has count " +
        std::to_string(group.count) + ": a model may have " + std::to_string(kMaxInstances) +
        " instances at most, in all its groups together");
  }
  return base::Status::Ok();
}

}  // namespace

std::string HostPolicyName(const config::InstanceGroup& group, int32_t device_id) {
  if (!group.host_policy.empty()) return group.host_policy;
  switch (group.kind) {
    case InstanceKind::kGpu:
      return "gpu_" + std::to_string(device_id);
    case InstanceKind::kModel:
      return "model";
    default:
      return "cpu";
  }
}

base::Result<std::vector<InstanceSpec>> ExpandInstanceGroups(const config::ModelConfig& config,
                                                             const HostPolicies& host_policies) {
  NEREID_RETURN_IF_ERROR(CheckCounts(config));
  std::vector<InstanceSpec> specs;
  for (size_t g = 0; g < config.instance_groups().size(); ++g) {
    const config::InstanceGroup& group = config.instance_groups()[g];
    const std::vector<int32_t> devices =
        group.kind == InstanceKind::kGpu ? group.gpus : std::vector<int32_t>{0};
    for (int32_t index = 0; index < group.count; ++index) {
      for (const int32_t device : devices) {
        InstanceSpec& spec = specs.emplace_back();
        spec.description.name = group.name + "_" + std::to_string(index);
        spec.description.kind = group.kind;
        spec.description.device_id = device;
        spec.description.passive = group.passive;
        spec.host_policy = HostPolicyName(group, device);
        spec.description.host_policy_json = HostPolicyJson(host_policies, spec.host_policy);
        spec.description.profiles = group.profiles;
        spec.limits = LimitsOf(group, device);
        spec.description.secondary_devices = group.secondary_devices;
        spec.signature = Signature(config.proto().instance_group(static_cast<int>(g)), device);
      }
    }
  }
  return specs;
}

InstanceChanges PlanInstanceChanges(const std::vector<ExistingInstance>& existing,
                                    const std::vector<InstanceSpec>& wanted) {
  std::vector<bool> kept(existing.size()), served(wanted.size());
  // The first pass keeps instances whose name is wanted too, the second any with the same
  // signature.
  for (const bool by_name : {true, false}) {
    for (size_t w = 0; w < wanted.size(); ++w) {
      for (size_t e = 0; e < existing.size() && !served[w]; ++e) {
        if (kept[e] || existing[e].signature != wanted[w].signature) continue;
        if (by_name && existing[e].name != wanted[w].description.name) continue;
        kept[e] = served[w] = true;
      }
    }
  }
  InstanceChanges changes;
  for (size_t e = 0; e < existing.size(); ++e) {
    (kept[e] ? changes.keep : changes.remove).push_back(e);
  }
  for (size_t w = 0; w < wanted.size(); ++w) {
    if (!served[w]) changes.create.push_back(w);
  }
  return changes;
}

}  // namespace nereid::model
