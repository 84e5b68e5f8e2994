// SPDX-License-Identifier: Apache-2.0
// Warnings about instances, their devices and their shared resources.
#include <cctype>
#include <map>

#include "config/known_backends.h"
#include "config/rules/advice.h"

namespace nereid::config::rules {
namespace {

using Group = inference::ModelInstanceGroup;

// Each instance has threads and often its own copy of the model.
constexpr int32_t kManyInstances = 1024;

std::string PathOf(int index, std::string_view field) {
  return At("instance_group", index) + "." + std::string(field);
}

void CountSane(const AdviceSubject& subject, Findings& findings) {
  for (int i = 0; i < subject.config.instance_group_size(); ++i) {
    const int32_t count = subject.config.instance_group(i).count();
    if (count >= 0 && count <= kManyInstances) continue;
    findings.Add(PathOf(i, "count"),
                 count < 0 ? "a count of " + std::to_string(count) + " instances for " +
                                 subject.config.name() + " counts as no count"
                           : std::to_string(count) + " instances for " + subject.config.name() +
                                 " are more than a machine can run at once");
  }
}

void SomeGroupServes(const AdviceSubject& subject, Findings& findings) {
  const auto& groups = subject.config.instance_group();
  if (groups.empty()) return;
  for (const Group& group : groups) {
    if (!group.passive()) return;
  }
  findings.Add("instance_group", "all instances of " + subject.config.name() +
                                     " are passive: no request will ever be executed");
}

void DevicesKnown(const AdviceSubject& subject, Findings& findings) {
  for (int i = 0; i < subject.config.instance_group_size(); ++i) {
    const auto& devices = subject.config.instance_group(i).secondary_devices();
    for (int j = 0; j < devices.size(); ++j) {
      if (Group::SecondaryDevice::SecondaryDeviceKind_IsValid(devices[j].kind()) &&
          devices[j].device_id() >= 0) {
        continue;
      }
      findings.Add(PathOf(i, At("secondary_devices", j)),
                   "a secondary device of " + subject.config.name() +
                       " is not of KIND_NVDLA with a number from 0 on");
    }
  }
}

void ResourceSane(const AdviceSubject& subject, int group, Findings& findings) {
  const auto& resources = subject.config.instance_group(group).rate_limiter().resources();
  std::map<std::string, bool> seen;
  for (int i = 0; i < resources.size(); ++i) {
    const auto& resource = resources[i];
    const std::string path = PathOf(group, At("rate_limiter.resources", i));
    const std::string of = " of " + subject.config.name();
    if (resource.name().empty()) {
      findings.Add(path, "a rate limiter resource" + of + " has no name");
    }
    if (resource.count() == 0) {
      findings.Add(path, "the rate limiter resource '" + resource.name() + "'" + of +
                             " limits nothing: its count is 0");
    }
    const auto [it, is_new] = seen.emplace(resource.name(), resource.global());
    if (is_new) continue;
    findings.Add(path, it->second == resource.global()
                           ? "the rate limiter resource '" + resource.name() + "'" + of +
                                 " is listed twice in a group: the last count holds"
                           : "the rate limiter resource '" + resource.name() + "'" + of +
                                 " is both global and per device; with --rate-limit, the model "
                                 "will not load");
  }
}

void ResourcesSane(const AdviceSubject& subject, Findings& findings) {
  for (int i = 0; i < subject.config.instance_group_size(); ++i) {
    ResourceSane(subject, i, findings);
  }
}

// Returns whether `text` is a compute capability such as "7.5".
bool IsCapability(const std::string& text) {
  const size_t dot = text.find('.');
  if (dot == 0 || dot == std::string::npos || dot + 1 == text.size()) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (i != dot && !std::isdigit(static_cast<unsigned char>(text[i]))) return false;
  }
  return true;
}

void CapabilityFilesUsable(const AdviceSubject& subject, Findings& findings) {
  const auto& files = subject.config.cc_model_filenames();
  for (const auto& [capability, file] :
       std::map<std::string, std::string>(files.begin(), files.end())) {
    const std::string path = At("cc_model_filenames", capability);
    if (!IsCapability(capability)) {
      findings.Add(path, "'" + capability + "' in cc_model_filenames of " + subject.config.name() +
                             " is no compute capability");
    } else if (subject.options.gpus.empty()) {
      findings.Add(path, "the file '" + file + "' of " + subject.config.name() +
                             " is not used: this machine has no GPU");
    }
  }
}

constexpr Rule<AdviceSubject> kRules[] = {
    {{"advice.instance_count", "instance_group.count",
      "The count of a group is positive, and not far above what a machine runs at once.",
      "0 (the backend's preference) to 1024", "Set count to the number of instances."},
     CountSane},
    {{"advice.passive", "instance_group", "Some instance is not passive.",
      "a group without passive", "Remove passive from one of the groups."},
     SomeGroupServes},
    {{"advice.secondary_device", "instance_group.secondary_devices",
      "A secondary device is of KIND_NVDLA.", "kind KIND_NVDLA and a device_id from 0 on",
      "Set kind to KIND_NVDLA, or remove the device."},
     DevicesKnown},
    {{"advice.resources", "instance_group.rate_limiter.resources",
      "A resource of the rate limiter has a name and a count, and is listed once.",
      "a name, a count above 0, either global or not",
      "Give the resource a name and a count, and list it once."},
     ResourcesSane},
    {{"advice.capability_files", "cc_model_filenames",
      "Files for compute capabilities are for machines with such a GPU.",
      "a capability as in \"7.5\", and a GPU that has it",
      "Write the capability as major.minor; without a GPU, default_model_filename is used."},
     CapabilityFilesUsable},
};

}  // namespace

void AdviseOnPlacement(const AdviceSubject& subject, Findings& findings) {
  Apply(kRules, subject, findings, Severity::kWarning);
}

void ListPlacementAdvice(std::vector<RuleInfo>* list) {
  List(kRules, Stage::kLoad, Severity::kWarning, list);
}

}  // namespace nereid::config::rules
