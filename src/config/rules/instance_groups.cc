// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "base/parse_number.h"
#include "config/known_backends.h"
#include "config/rules/sections.h"

namespace nereid::config::rules {
namespace {

using Group = inference::ModelInstanceGroup;

struct GroupSubject {
  const Proto& config;
  const Group& group;
  int index;
  const ValidateOptions& options;

  std::string Path(std::string_view field) const {
    return At("instance_group", index) + "." + std::string(field);
  }
  bool gpu() const { return group.kind() == Group::KIND_GPU; }
};

std::string Of(const GroupSubject& subject, const std::string& text) {
  return "instance group " + subject.group.name() + " of model " + subject.config.name() + " " +
         text;
}

void KindSettled(const GroupSubject& subject, Findings& findings) {
  // Triton's message says AUTO for an unknown kind too.
  const bool known = Group::Kind_IsValid(subject.group.kind());
  if (known && subject.group.kind() != Group::KIND_AUTO) return;
  findings.Add(subject.Path("kind"), Of(subject, "has unexpected kind KIND_AUTO"));
}

void NoGpusOffGpu(const GroupSubject& subject, Findings& findings) {
  if (subject.gpu() || subject.group.gpus().empty()) return;
  findings.Add(subject.Path("gpus"),
               Of(subject, "has kind " + Group::Kind_Name(subject.group.kind()) +
                               " but specifies one or more GPUs"));
}

// GPUs that are listed but do not exist are reported by GpusExist.
void GpusAvailable(const GroupSubject& subject, Findings& findings) {
  const bool without = subject.gpu() && subject.group.gpus().empty();
  if (!without || !subject.options.gpus.empty()) return;
  findings.Add(subject.Path("kind"), Of(subject, "has kind KIND_GPU but no GPUs are available"));
}

void GpusGiven(const GroupSubject& subject, Findings& findings) {
  if (!subject.gpu() || !subject.group.gpus().empty() || subject.options.gpus.empty()) return;
  findings.Add(subject.Path("gpus"), Of(subject, "has kind KIND_GPU but specifies no GPUs"));
}

void GpusExist(const GroupSubject& subject, Findings& findings) {
  if (!subject.gpu()) return;
  std::string present;
  const std::vector<int32_t>& usable = subject.options.gpus;
  for (const int32_t gpu : usable) {
    present += (present.empty() ? "" : ", ") + std::to_string(gpu);
  }
  int position = 0;
  for (const int32_t gpu : subject.group.gpus()) {
    const std::string path = At("gpus", position++);
    if (std::find(usable.begin(), usable.end(), gpu) != usable.end()) continue;
    findings.Add(
        subject.Path(path),
        Of(subject, "specifies invalid or unsupported gpu id " + std::to_string(gpu) +
                        ". GPUs with at least the minimum required CUDA compute compatibility of " +
                        std::to_string(subject.options.min_compute_capability) +
                        " are: " + present),
        present.empty() ? "no GPU: this machine has none" : "one of " + present);
  }
}

void ProfilesForTensorRt(const GroupSubject& subject, Findings& findings) {
  const std::string& platform = subject.config.platform();
  if (subject.group.profile().empty() || platform == kTensorRtPlatform) return;
  findings.Add(
      subject.Path("profile"),
      Of(subject, "and platform " + platform + (platform.empty() ? "" : " ") +
                      "specifies profile field which is only supported for TensorRT models"));
}

bool IsNumber(const std::string& text) {
  const auto value = base::ParseWhole<int>(text);
  return value && *value >= 0;
}

void ProfilesAreNumbers(const GroupSubject& subject, Findings& findings) {
  if (subject.config.platform() != kTensorRtPlatform) return;
  int position = 0;
  for (const std::string& profile : subject.group.profile()) {
    const std::string path = At("profile", position++);
    if (IsNumber(profile)) continue;
    findings.Add(subject.Path(path),
                 Of(subject, "specifies invalid profile " + profile +
                                 ". The field should contain the string representation of a "
                                 "non-negative integer."));
  }
}

constexpr Rule<GroupSubject> kRules[] = {
    {{"instances.kind", "instance_group.kind", "The kind of a group is settled before it is used.",
      "KIND_CPU, KIND_GPU or KIND_MODEL", "Set kind."},
     KindSettled},
    {{"instances.gpus_off_gpu", "instance_group.gpus", "Only groups of KIND_GPU list GPUs.",
      "no gpus", "Remove gpus, or set kind to KIND_GPU."},
     NoGpusOffGpu},
    {{"instances.gpus_available", "instance_group.kind",
      "Groups of KIND_GPU need a machine with a GPU.", "KIND_CPU, KIND_MODEL or KIND_AUTO",
      "Set kind to KIND_CPU or KIND_AUTO, or run the server on a machine with GPUs."},
     GpusAvailable},
    {{"instances.gpus_given", "instance_group.gpus", "Groups of KIND_GPU have GPUs.",
      "one GPU or more", "List the GPUs in gpus."},
     GpusGiven},
    {{"instances.gpus_exist", "instance_group.gpus", "The GPUs of a group exist.",
      "the number of a GPU of this machine", "List GPUs that this machine has."},
     GpusExist},
    {{"instances.profile_platform", "instance_group.profile",
      "Optimization profiles are for TensorRT models.", "no profile", "Remove profile."},
     ProfilesForTensorRt},
    {{"instances.profile_number", "instance_group.profile",
      "An optimization profile is given by its number.", "a number from 0 on",
      "Write the number of the profile, as in profile: \"0\"."},
     ProfilesAreNumbers},
};

void GroupsGiven(const Proto& config, Findings& findings) {
  if (!config.instance_group().empty()) return;
  findings.Add("instance_group", "must specify one or more 'instance group's for " + config.name());
}

constexpr Rule<Proto> kListRules[] = {
    {{"instances.given", "instance_group", "A model that is no ensemble has an instance group.",
      "one group or more", "Add an instance_group."},
     GroupsGiven},
};

}  // namespace

void CheckInstanceGroups(const Proto& config, const ValidateOptions& options, Findings& findings) {
  if (config.platform() == kEnsemblePlatform) return;
  Apply(kListRules, config, findings);
  int index = 0;
  for (const Group& group : config.instance_group()) {
    Apply(kRules, GroupSubject{config, group, index++, options}, findings);
  }
}

void ListInstanceGroups(std::vector<RuleInfo>* list) {
  List(kListRules, Stage::kLoad, list);
  List(kRules, Stage::kLoad, list);
}

}  // namespace nereid::config::rules
