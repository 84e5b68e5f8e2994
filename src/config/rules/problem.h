// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "config/rules/rule_info.h"

namespace nereid::config {

/// One violation of one rule.
struct Problem {
  /// The rule's id (RuleInfo::id).
  std::string rule;
  /// A model with an error is not loaded; warnings have no effect on loading.
  Severity severity = Severity::kError;
  /// The path of the field, with list positions and map keys, such as "input[0].reshape.shape" and
  /// "dynamic_batching.priority_queue_policy[3]". The field itself may be absent.
  std::string field;
  /// The message of the server when it refuses the model, or that it logs.
  std::string message;
  /// What was expected instead, in a few words.
  std::string expected;
  /// How to correct the problem: a short sentence in the imperative.
  std::string remedy;
};

}  // namespace nereid::config
