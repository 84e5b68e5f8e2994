// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "config/complete/complete.h"
#include "model_config.pb.h"

namespace nereid::config {
namespace {

using Group = inference::ModelInstanceGroup;
using Preferred = InstanceDefaults::PreferredGroup;

// These frameworks run two instances in parallel well on the CPU; Triton has the same default.
constexpr int32_t kCpuCountOfFrameworks = 2;

Group::Kind ToProtoKind(InstanceKind kind) {
  switch (kind) {
    case InstanceKind::kCpu:
      return Group::KIND_CPU;
    case InstanceKind::kGpu:
      return Group::KIND_GPU;
    case InstanceKind::kModel:
      return Group::KIND_MODEL;
    case InstanceKind::kAuto:
      break;
  }
  return Group::KIND_AUTO;
}

template <typename List>
bool AllPresent(const List& wanted, const std::vector<int32_t>& present) {
  return std::all_of(wanted.begin(), wanted.end(), [&](int32_t gpu) {
    return std::find(present.begin(), present.end(), gpu) != present.end();
  });
}

bool Usable(const Preferred& preferred, const InstanceDefaults& defaults) {
  if (preferred.kind != InstanceKind::kGpu) return true;
  return !defaults.gpus.empty() && AllPresent(preferred.gpus, defaults.gpus);
}

void AddDefaultGroup(const InstanceDefaults& defaults, inference::ModelConfig* proto) {
  Group* group = proto->add_instance_group();
  group->set_name(proto->name());
  for (const Preferred& preferred : defaults.preferred) {
    if (!Usable(preferred, defaults)) continue;
    group->set_kind(ToProtoKind(preferred.kind));
    group->set_count(preferred.count);
    group->mutable_gpus()->Assign(preferred.gpus.begin(), preferred.gpus.end());
    return;
  }
}

int32_t DefaultCount(const Group& group, const InstanceDefaults& defaults,
                     const std::string& backend) {
  for (const Preferred& preferred : defaults.preferred) {
    // A preference that names GPUs applies only to groups whose GPUs are all among them.
    const bool same_devices = preferred.gpus.empty() || AllPresent(group.gpus(), preferred.gpus);
    if (ToProtoKind(preferred.kind) == group.kind() && preferred.count > 0 && same_devices) {
      return preferred.count;
    }
  }
  const bool framework = backend == "onnxruntime" || backend == "tensorflow";
  return group.kind() == Group::KIND_CPU && framework ? kCpuCountOfFrameworks : 1;
}

void CompleteGroup(const InstanceDefaults& defaults, const std::string& backend, Group* group) {
  if (group->kind() == Group::KIND_AUTO) {
    const bool gpu = !defaults.gpus.empty() && AllPresent(group->gpus(), defaults.gpus);
    group->set_kind(gpu ? Group::KIND_GPU : Group::KIND_CPU);
    // An AUTO group that falls back to the CPU must not keep its GPUs, or validation would refuse
    // it.
    if (!gpu) group->clear_gpus();
  }
  if (group->count() < 1) group->set_count(DefaultCount(*group, defaults, backend));
  if (group->kind() == Group::KIND_GPU && group->gpus().empty()) {
    group->mutable_gpus()->Assign(defaults.gpus.begin(), defaults.gpus.end());
  }
}

}  // namespace

ModelConfigPtr CompleteInstanceGroups(const ModelConfig& config, const InstanceDefaults& defaults) {
  inference::ModelConfig proto = config.proto();
  if (config.is_ensemble()) return ModelConfig::Create(std::move(proto));
  if (proto.instance_group().empty()) AddDefaultGroup(defaults, &proto);
  for (int i = 0; i < proto.instance_group_size(); ++i) {
    Group* group = proto.mutable_instance_group(i);
    // The number counts all groups, including those that have a name.
    if (group->name().empty()) group->set_name(proto.name() + "_" + std::to_string(i));
    CompleteGroup(defaults, proto.backend(), group);
  }
  return ModelConfig::Create(std::move(proto));
}

}  // namespace nereid::config
