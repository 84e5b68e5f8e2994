// SPDX-License-Identifier: Apache-2.0
// Source: the rules and messages of Triton 2.51, with which tests/peer/test_config_rules.py
// compares them. tests/peer/rule_differences.toml lists the intended differences.
#pragma once

#include <vector>

#include "base/status.h"
#include "config/model_config.h"
#include "config/rules/rule_info.h"
#include "config/rules/validate_options.h"

namespace nereid::config {

/// Returns the first error in the configuration, with the rule's status code (mostly INVALID_ARG).
/// Warnings are ignored.
base::Status ValidateModelConfig(const ModelConfig& config, const ValidateOptions& options);

/// Returns all rules in the order in which they are applied.
std::vector<RuleInfo> AllRules();

}  // namespace nereid::config
