// SPDX-License-Identifier: Apache-2.0
#include <map>

#include "config/rules/rule.h"

namespace nereid::config::rules {
namespace {

using inference::ModelDynamicBatching;
using inference::ModelQueuePolicy;

struct SizeSubject {
  const Proto& config;
  int32_t size;
};

Violation SizePositive(const SizeSubject& subject) {
  if (subject.size > 0) return std::nullopt;
  return "dynamic batching preferred size must be positive for " + subject.config.name();
}

Violation SizeFits(const SizeSubject& subject) {
  if (subject.size <= subject.config.max_batch_size()) return std::nullopt;
  return "dynamic batching preferred size must be <= max batch size for " + subject.config.name();
}

constexpr Rule<SizeSubject> kSizeRules[] = {
    {"dynamic.preferred_positive", "dynamic_batching.preferred_batch_size", SizePositive},
    {"dynamic.preferred_max", "dynamic_batching.preferred_batch_size", SizeFits},
};

Violation DefaultLevelInRange(const Proto& config) {
  const auto& batching = config.dynamic_batching();
  const uint64_t levels = batching.priority_levels();
  const uint64_t level = batching.default_priority_level();
  if (levels == 0 || (level >= 1 && level <= levels)) return std::nullopt;
  return "default priority level must be in range [1, " + std::to_string(levels) + "] for " +
         config.name();
}

Violation PolicyLevelsInRange(const Proto& config) {
  const auto& batching = config.dynamic_batching();
  const uint64_t levels = batching.priority_levels();
  for (const auto& [level, policy] : batching.priority_queue_policy()) {
    if (level >= 1 && level <= levels) continue;
    return "priority queue policy must have priority level in range [1, " + std::to_string(levels) +
           "] for " + config.name();
  }
  return std::nullopt;
}

Violation OrderingWithOneLevel(const Proto& config) {
  const auto& batching = config.dynamic_batching();
  if (!batching.preserve_ordering() || batching.priority_levels() <= 1) return std::nullopt;
  return "Only one priority level is allowed when 'preserve_ordering' is true for " + config.name();
}

// A policy that delays nothing, for want of a timeout, is let through.
bool Delays(const ModelQueuePolicy& policy) {
  return policy.timeout_action() == ModelQueuePolicy::DELAY &&
         policy.default_timeout_microseconds() != 0;
}

Violation OrderingWithoutDelay(const Proto& config) {
  const auto& batching = config.dynamic_batching();
  if (!batching.preserve_ordering()) return std::nullopt;
  bool delays = Delays(batching.default_queue_policy());
  for (const auto& [level, policy] : batching.priority_queue_policy()) delays |= Delays(policy);
  if (!delays) return std::nullopt;
  return "Queue policy can not have DELAY as timeout action when 'preserve_ordering' is true for " +
         config.name();
}

constexpr Rule<Proto> kRules[] = {
    {"dynamic.default_priority", "dynamic_batching.default_priority_level", DefaultLevelInRange},
    {"dynamic.policy_priority", "dynamic_batching.priority_queue_policy", PolicyLevelsInRange},
    {"dynamic.ordering_levels", "dynamic_batching.preserve_ordering", OrderingWithOneLevel},
    {"dynamic.ordering_delay", "dynamic_batching.preserve_ordering", OrderingWithoutDelay},
};

}  // namespace

Violation CheckDynamicBatching(const Proto& config) {
  if (!config.has_dynamic_batching()) return std::nullopt;
  for (const int32_t size : config.dynamic_batching().preferred_batch_size()) {
    if (auto violation = FirstViolation(kSizeRules, SizeSubject{config, size})) return violation;
  }
  return FirstViolation(kRules, config);
}

void ListDynamicBatching(std::vector<RuleInfo>* list) {
  List(kSizeRules, list);
  List(kRules, list);
}

}  // namespace nereid::config::rules
