// SPDX-License-Identifier: Apache-2.0
#include <map>

#include "config/rules/sections.h"

namespace nereid::config::rules {
namespace {

using inference::ModelQueuePolicy;

constexpr std::string_view kSizes = "dynamic_batching.preferred_batch_size";
constexpr std::string_view kPolicies = "dynamic_batching.priority_queue_policy";

struct SizeSubject {
  const Proto& config;
  int index;
  int32_t size;
};

void SizePositive(const SizeSubject& subject, Findings& findings) {
  if (subject.size > 0) return;
  findings.Add(At(kSizes, subject.index),
               "dynamic batching preferred size must be positive for " + subject.config.name());
}

void SizeFits(const SizeSubject& subject, Findings& findings) {
  const int32_t largest = subject.config.max_batch_size();
  if (subject.size <= 0 || largest < 0 || subject.size <= largest) return;
  findings.Add(
      At(kSizes, subject.index),
      "dynamic batching preferred size must be <= max batch size for " + subject.config.name(),
      "at most " + std::to_string(largest) + " (max_batch_size)");
}

constexpr Rule<SizeSubject> kSizeRules[] = {
    {{"dynamic.preferred_positive", kSizes, "A preferred batch size is positive.", "1 or more",
      "Remove the size: it can never be reached."},
     SizePositive},
    {{"dynamic.preferred_max", kSizes, "A preferred batch size is at most max_batch_size.",
      "at most max_batch_size", "Lower the preferred size, or raise max_batch_size."},
     SizeFits},
};

void DefaultLevelInRange(const Proto& config, Findings& findings) {
  const auto& batching = config.dynamic_batching();
  const uint64_t levels = batching.priority_levels();
  const uint64_t level = batching.default_priority_level();
  if (levels == 0 || (level >= 1 && level <= levels)) return;
  findings.Add("dynamic_batching.default_priority_level",
               "default priority level must be in range [1, " + std::to_string(levels) + "] for " +
                   config.name(),
               "1 to " + std::to_string(levels));
}

void PolicyLevelsInRange(const Proto& config, Findings& findings) {
  const auto& batching = config.dynamic_batching();
  const uint64_t levels = batching.priority_levels();
  // Protobuf maps have no order, so the levels are sorted first.
  std::map<uint64_t, bool> given;
  for (const auto& [level, policy] : batching.priority_queue_policy()) given[level] = true;
  for (const auto& [level, unused] : given) {
    // Without levels the policies are ignored.
    if (levels == 0 || (level >= 1 && level <= levels)) continue;
    findings.Add(At(kPolicies, level),
                 "priority queue policy must have priority level in range [1, " +
                     std::to_string(levels) + "] for " + config.name(),
                 "a level from 1 to " + std::to_string(levels));
  }
}

void OrderingWithOneLevel(const Proto& config, Findings& findings) {
  const auto& batching = config.dynamic_batching();
  if (!batching.preserve_ordering() || batching.priority_levels() <= 1) return;
  findings.Add(
      "dynamic_batching.preserve_ordering",
      "Only one priority level is allowed when 'preserve_ordering' is true for " + config.name());
}

// A DELAY action without a timeout never delays a request, so it is accepted.
bool Delays(const ModelQueuePolicy& policy) {
  return policy.timeout_action() == ModelQueuePolicy::DELAY &&
         policy.default_timeout_microseconds() != 0;
}

void OrderingWithoutDelay(const Proto& config, Findings& findings) {
  const auto& batching = config.dynamic_batching();
  if (!batching.preserve_ordering()) return;
  const std::string text =
      "Queue policy can not have DELAY as timeout action when 'preserve_ordering' is true for " +
      config.name();
  if (Delays(batching.default_queue_policy())) {
    findings.Add("dynamic_batching.default_queue_policy.timeout_action", text);
  }
  std::map<uint64_t, bool> delaying;
  for (const auto& [level, policy] : batching.priority_queue_policy()) {
    if (Delays(policy)) delaying[level] = true;
  }
  for (const auto& [level, unused] : delaying) {
    findings.Add(At(kPolicies, level) + ".timeout_action", text);
  }
}

constexpr Rule<Proto> kRules[] = {
    {{"dynamic.default_priority", "dynamic_batching.default_priority_level",
      "With priority_levels N, the default level is one of 1 to N.",
      "a level from 1 to priority_levels",
      "Set default_priority_level to the level of requests that name none."},
     DefaultLevelInRange},
    {{"dynamic.policy_priority", kPolicies,
      "Queue policies are given for the levels 1 to priority_levels only.",
      "a level from 1 to priority_levels",
      "Remove the policy of that level, or raise priority_levels."},
     PolicyLevelsInRange},
    {{"dynamic.ordering_levels", "dynamic_batching.preserve_ordering",
      "Answers keep the order of requests only with a single priority level.",
      "priority_levels 0 or 1", "Remove preserve_ordering or priority_levels."},
     OrderingWithOneLevel},
    {{"dynamic.ordering_delay",
      "dynamic_batching.default_queue_policy.timeout_action, "
      "dynamic_batching.priority_queue_policy.timeout_action",
      "Where answers keep the order of requests, a request that timed out is rejected, not "
      "delayed.",
      "timeout_action REJECT", "Remove preserve_ordering, or set timeout_action to REJECT."},
     OrderingWithoutDelay},
};

}  // namespace

void CheckDynamicBatching(const Proto& config, Findings& findings) {
  if (!config.has_dynamic_batching()) return;
  int index = 0;
  for (const int32_t size : config.dynamic_batching().preferred_batch_size()) {
    Apply(kSizeRules, SizeSubject{config, index++, size}, findings);
  }
  Apply(kRules, config, findings);
}

void ListDynamicBatching(std::vector<RuleInfo>* list) {
  List(kSizeRules, Stage::kPoll, list);
  List(kRules, Stage::kPoll, list);
}

}  // namespace nereid::config::rules
