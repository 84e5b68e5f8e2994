// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "config/model_config.h"
#include "config/rules/validate.h"

namespace nereid::config {

/// One place where a configuration breaks a rule.
struct Problem {
  /// The rule's id (RuleInfo::id).
  std::string rule;
  /// Errors keep the model from loading; warnings never do.
  Severity severity = Severity::kError;
  /// The path of the field, with the positions in lists and the keys of maps, as in
  /// "input[0].reshape.shape" and "dynamic_batching.priority_queue_policy[3]". The field itself may
  /// be absent.
  std::string field;
  /// What the server says when it refuses the model, or logs.
  std::string message;
  /// What was expected instead, in a few words.
  std::string expected;
  /// How to mend it: a short sentence in the imperative.
  std::string remedy;
};

/// All violations of all rules that `options` asks for, in the order of AllRules' sections: the
/// first error is the one that ValidateModelConfig tells; warnings come last. What would only
/// repeat the consequence of another problem is left out.
std::vector<Problem> FindProblems(const ModelConfig& config, const ValidateOptions& options);

}  // namespace nereid::config
