// SPDX-License-Identifier: Apache-2.0
#include "config/complete/instance_groups.h"

#include <algorithm>

#include "config/complete/completion.h"
#include "config/known_backends.h"

namespace nereid::config {
namespace {

using Group = inference::ModelInstanceGroup;
using Preferred = InstanceDefaults::PreferredGroup;

struct GroupsSubject {
  const InstanceDefaults& defaults;
  inference::ModelConfig* config;
};

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

void AddDefaultGroup(const GroupsSubject& subject) {
  if (!subject.config->instance_group().empty()) return;
  Group* group = subject.config->add_instance_group();
  group->set_name(subject.config->name());
  for (const Preferred& preferred : subject.defaults.preferred) {
    if (!Usable(preferred, subject.defaults)) continue;
    group->set_kind(ToProtoKind(preferred.kind));
    group->set_count(preferred.count);
    group->mutable_gpus()->Assign(preferred.gpus.begin(), preferred.gpus.end());
    return;
  }
}

// The number in a name counts all groups, including those that have a name.
void NameGroups(const GroupsSubject& subject) {
  for (int i = 0; i < subject.config->instance_group_size(); ++i) {
    Group* group = subject.config->mutable_instance_group(i);
    if (group->name().empty()) group->set_name(subject.config->name() + "_" + std::to_string(i));
  }
}

/// Returns whether the backend may use GPUs: it does not, if it prefers other kinds only.
bool MayUseGpus(const InstanceDefaults& defaults) {
  return defaults.preferred.empty() ||
         std::any_of(defaults.preferred.begin(), defaults.preferred.end(), [](const auto& group) {
           return group.kind == InstanceKind::kGpu || group.kind == InstanceKind::kAuto;
         });
}

void ChooseKinds(const GroupsSubject& subject) {
  const std::vector<int32_t>& present = subject.defaults.gpus;
  const bool usable = !present.empty() && MayUseGpus(subject.defaults);
  for (Group& group : *subject.config->mutable_instance_group()) {
    if (group.kind() != Group::KIND_AUTO) continue;
    const bool gpu = usable && AllPresent(group.gpus(), present);
    group.set_kind(gpu ? Group::KIND_GPU : Group::KIND_CPU);
    // An AUTO group that falls back to the CPU must not keep its GPUs, or validation would refuse
    // it.
    if (!gpu) group.clear_gpus();
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
  const KnownBackend* const known = FindKnownBackend(backend);
  return group.kind() == Group::KIND_CPU && known != nullptr ? known->cpu_instance_count : 1;
}

void SetCounts(const GroupsSubject& subject) {
  for (Group& group : *subject.config->mutable_instance_group()) {
    if (group.count() >= 1) continue;
    group.set_count(DefaultCount(group, subject.defaults, subject.config->backend()));
  }
}

// Comes after SetCounts: a preferred count applies by the GPUs that the configuration names.
void SetGpus(const GroupsSubject& subject) {
  const std::vector<int32_t>& present = subject.defaults.gpus;
  for (Group& group : *subject.config->mutable_instance_group()) {
    if (group.kind() != Group::KIND_GPU || !group.gpus().empty()) continue;
    group.mutable_gpus()->Assign(present.begin(), present.end());
  }
}

std::string GroupReason(const CompletionContext&) {
  return "the server's or the backend's default";
}

std::string NameReason(const CompletionContext& context) {
  return context.written.instance_groups().empty()
             ? "the name of the model"
             : "the name of the model and the position of the group";
}

std::string KindReason(const CompletionContext&) {
  return "whether there are GPUs that the backend may use";
}

std::string CountReason(const CompletionContext&) {
  return "the server's default, or the backend's";
}

std::string GpusReason(const CompletionContext&) { return "the GPUs of this machine"; }

constexpr Completion<GroupsSubject> kDefaults[] = {
    {{"default.instance_group", "instance_group",
      "One group: the first usable one that the backend prefers, or one of kind AUTO.",
      GroupReason},
     AddDefaultGroup},
    {{"default.instance_name", "instance_group.name",
      "The model's name; with groups that are written, and the position in the list.", NameReason},
     NameGroups},
    {{"default.instance_kind", "instance_group.kind",
      "KIND_GPU where there are GPUs that the backend may use, else KIND_CPU.", KindReason},
     ChooseKinds},
    {{"default.instance_count", "instance_group.count",
      "One; two on the CPU for onnxruntime and tensorflow where the group is written.",
      CountReason},
     SetCounts},
    {{"default.instance_gpus", "instance_group.gpus", "All usable GPUs, for groups of KIND_GPU.",
      GpusReason},
     SetGpus},
};

}  // namespace

void ListInstanceGroupDefaults(std::vector<CompletionInfo>* list) { List(kDefaults, list); }

ModelConfigPtr CompleteInstanceGroups(const ModelConfig& config, const InstanceDefaults& defaults) {
  inference::ModelConfig proto = config.proto();
  if (!config.is_ensemble()) Apply(kDefaults, GroupsSubject{defaults, &proto});
  return ModelConfig::Create(std::move(proto));
}

}  // namespace nereid::config
