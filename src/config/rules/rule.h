// SPDX-License-Identifier: Apache-2.0
// The form of a rule: one row in a table, in the order in which rules are applied.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "config/rules/findings.h"
#include "config/rules/rule_info.h"
#include "model_config.pb.h"

namespace nereid::config::rules {

using Proto = inference::ModelConfig;

/// A rule. `Subject` is the input of its check: the whole configuration, or a part with its
/// surroundings.
template <typename Subject>
struct Rule {
  RuleInfo info;
  /// Adds each violation to the findings.
  void (*check)(const Subject&, Findings&);
};

/// Applies the rules in order until `findings` is complete.
template <typename Subject, size_t kCount>
void Apply(const Rule<Subject> (&rules)[kCount], const Subject& subject, Findings& findings,
           Severity severity = Severity::kError) {
  for (const Rule<Subject>& rule : rules) {
    if (findings.done()) return;
    findings.Judge(rule.info, severity);
    rule.check(subject, findings);
  }
}

template <typename Subject, size_t kCount>
/// Appends the descriptions of the rules, with their stage and severity, to `list`.
void List(const Rule<Subject> (&rules)[kCount], Stage stage, Severity severity,
          std::vector<RuleInfo>* list) {
  for (const Rule<Subject>& rule : rules) {
    list->push_back(rule.info);
    list->back().stage = stage;
    list->back().severity = severity;
  }
}

template <typename Subject, size_t kCount>
void List(const Rule<Subject> (&rules)[kCount], Stage stage, std::vector<RuleInfo>* list) {
  List(rules, stage, Severity::kError, list);
}

/// Returns the path of a list element or of the value of a map key, such as "input[2]".
template <typename Key>
std::string At(std::string_view list, const Key& key) {
  std::string path(list);
  path += '[';
  if constexpr (std::is_arithmetic_v<Key>) {
    path += std::to_string(key);
  } else {
    path += key;
  }
  path += ']';
  return path;
}

}  // namespace nereid::config::rules
