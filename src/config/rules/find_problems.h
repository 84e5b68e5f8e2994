// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "config/model_config.h"
#include "config/rules/problem.h"
#include "config/rules/validate_options.h"

namespace nereid::config {

/// Returns all violations of the rules that `options` selects, in the order of AllRules(). The
/// first error is the one that ValidateModelConfig returns; warnings come last. Problems that only
/// follow from another problem are left out.
std::vector<Problem> FindProblems(const ModelConfig& config, const ValidateOptions& options);

}  // namespace nereid::config
