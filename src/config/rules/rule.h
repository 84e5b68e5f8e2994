// SPDX-License-Identifier: Apache-2.0
// How the sections write down their rules: one row each, in the order in which they apply.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/rules/validate.h"
#include "model_config.pb.h"

namespace nereid::config::rules {

using Proto = inference::ModelConfig;

/// What is wrong; nothing if the rule holds.
using Violation = std::optional<std::string>;

/// `Subject` is what the rule looks at: the whole configuration, or a part with its surroundings.
template <typename Subject>
struct Rule {
  std::string_view id;
  std::string_view field;
  Violation (*check)(const Subject&);
};

/// The first violation.
template <typename Subject, size_t kCount>
Violation FirstViolation(const Rule<Subject> (&rules)[kCount], const Subject& subject) {
  for (const Rule<Subject>& rule : rules) {
    if (Violation violation = rule.check(subject)) return violation;
  }
  return std::nullopt;
}

template <typename Subject, size_t kCount>
void List(const Rule<Subject> (&rules)[kCount], std::vector<RuleInfo>* list) {
  for (const Rule<Subject>& rule : rules) list->push_back({rule.id, rule.field});
}

// The sections, one file each. Check...: the first violation. List...: appends the rows.
Violation CheckIdentity(const Proto& config);
void ListIdentity(std::vector<RuleInfo>* list);
Violation CheckDynamicBatching(const Proto& config);
void ListDynamicBatching(std::vector<RuleInfo>* list);
Violation CheckSequenceBatching(const Proto& config);
void ListSequenceBatching(std::vector<RuleInfo>* list);
Violation CheckEnsemble(const Proto& config);
void ListEnsemble(std::vector<RuleInfo>* list);
Violation CheckResponses(const Proto& config);
void ListResponses(std::vector<RuleInfo>* list);
Violation CheckTensors(const Proto& config);
void ListTensors(std::vector<RuleInfo>* list);
Violation CheckBatchIo(const Proto& config);
void ListBatchIo(std::vector<RuleInfo>* list);
Violation CheckInstanceGroups(const Proto& config, const ValidateOptions& options);
void ListInstanceGroups(std::vector<RuleInfo>* list);
Violation CheckSequenceStates(const Proto& config);
void ListSequenceStates(std::vector<RuleInfo>* list);
Violation CheckDirectory(const Proto& config, const std::string& directory_name);
void ListDirectory(std::vector<RuleInfo>* list);

}  // namespace nereid::config::rules
