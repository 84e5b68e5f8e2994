// SPDX-License-Identifier: Apache-2.0
#include <charconv>

#include "config/known_backends.h"
#include "config/rules/rule.h"

namespace nereid::config::rules {
namespace {

using Group = inference::ModelInstanceGroup;

struct GroupSubject {
  const Proto& config;
  const Group& group;
  const ValidateOptions& options;
};

Violation Of(const GroupSubject& subject, const std::string& text) {
  return "instance group " + subject.group.name() + " of model " + subject.config.name() + " " +
         text;
}

Violation KindSettled(const GroupSubject& subject) {
  if (subject.group.kind() != Group::KIND_AUTO) return std::nullopt;
  return Of(subject, "has unexpected kind KIND_AUTO");
}

Violation NoGpusOffGpu(const GroupSubject& subject) {
  if (subject.group.kind() == Group::KIND_GPU || subject.group.gpus().empty()) return std::nullopt;
  return Of(subject, "has kind " + Group::Kind_Name(subject.group.kind()) +
                         " but specifies one or more GPUs");
}

// Listed ones are told apart by the rule that they exist.
Violation GpusAvailable(const GroupSubject& subject) {
  const bool without = subject.group.kind() == Group::KIND_GPU && subject.group.gpus().empty();
  if (!without || subject.options.gpu_count > 0) return std::nullopt;
  return Of(subject, "has kind KIND_GPU but no GPUs are available");
}

Violation GpusGiven(const GroupSubject& subject) {
  if (subject.group.kind() != Group::KIND_GPU || !subject.group.gpus().empty()) {
    return std::nullopt;
  }
  return Of(subject, "has kind KIND_GPU but specifies no GPUs");
}

Violation GpusExist(const GroupSubject& subject) {
  for (const int32_t gpu : subject.group.gpus()) {
    if (gpu >= 0 && gpu < subject.options.gpu_count) continue;
    std::string text = "specifies invalid or unsupported gpu id " + std::to_string(gpu) +
                       ". GPUs with at least the minimum required CUDA compute compatibility of " +
                       std::to_string(subject.options.min_compute_capability) + " are: ";
    for (int i = 0; i < subject.options.gpu_count; ++i) {
      if (i > 0) text += ", ";
      text += std::to_string(i);
    }
    return Of(subject, text);
  }
  return std::nullopt;
}

Violation ProfilesForTensorRt(const GroupSubject& subject) {
  if (subject.group.profile().empty() || subject.config.platform() == kTensorRtPlatform) {
    return std::nullopt;
  }
  const std::string& platform = subject.config.platform();
  return Of(subject, "and platform " + platform + (platform.empty() ? "" : " ") +
                         "specifies profile field which is only supported for TensorRT models");
}

bool IsNumber(const std::string& text) {
  int value = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  return parsed.ec == std::errc() && parsed.ptr == end && value >= 0;
}

Violation ProfilesAreNumbers(const GroupSubject& subject) {
  for (const std::string& profile : subject.group.profile()) {
    if (IsNumber(profile)) continue;
    return Of(subject, "specifies invalid profile " + profile +
                           ". The field should contain the string representation of a "
                           "non-negative integer.");
  }
  return std::nullopt;
}

constexpr Rule<GroupSubject> kRules[] = {
    {"instances.kind", "instance_group.kind", KindSettled},
    {"instances.gpus_off_gpu", "instance_group.gpus", NoGpusOffGpu},
    {"instances.gpus_available", "instance_group.kind", GpusAvailable},
    {"instances.gpus_given", "instance_group.gpus", GpusGiven},
    {"instances.gpus_exist", "instance_group.gpus", GpusExist},
    {"instances.profile_platform", "instance_group.profile", ProfilesForTensorRt},
    {"instances.profile_number", "instance_group.profile", ProfilesAreNumbers},
};

Violation GroupsGiven(const Proto& config) {
  if (!config.instance_group().empty()) return std::nullopt;
  return "must specify one or more 'instance group's for " + config.name();
}

constexpr Rule<Proto> kListRules[] = {
    {"instances.given", "instance_group", GroupsGiven},
};

}  // namespace

Violation CheckInstanceGroups(const Proto& config, const ValidateOptions& options) {
  if (config.platform() == kEnsemblePlatform) return std::nullopt;
  if (auto violation = FirstViolation(kListRules, config)) return violation;
  for (const Group& group : config.instance_group()) {
    if (auto violation = FirstViolation(kRules, GroupSubject{config, group, options})) {
      return violation;
    }
  }
  return std::nullopt;
}

void ListInstanceGroups(std::vector<RuleInfo>* list) {
  List(kListRules, list);
  List(kRules, list);
}

}  // namespace nereid::config::rules
