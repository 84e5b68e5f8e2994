// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "config/model_config.h"
#include "config/rules/validate.h"

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

/// Returns all violations of the rules that `options` selects, in the order of AllRules(). The
/// first error is the one that ValidateModelConfig returns; warnings come last. Problems that only
/// follow from another problem are left out.
std::vector<Problem> FindProblems(const ModelConfig& config, const ValidateOptions& options);

}  // namespace nereid::config
