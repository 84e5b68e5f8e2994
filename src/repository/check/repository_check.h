// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "config/rules/validate.h"
#include "repository/check/finding.h"
#include "repository/check/model_check.h"

namespace nereid::repository {

struct CheckReport {
  /// The number of models that were checked.
  size_t models = 0;
  /// Sorted by model, file and position.
  std::vector<Finding> findings;
};

/// Checks all models of the directories, each of which is a repository or a single model, on
/// several threads. Loads nothing. NOT_FOUND if a directory cannot be read.
base::Result<CheckReport> CheckRepositories(const std::vector<std::string>& directories,
                                            const CheckOptions& options);

/// Returns whether a directory is that of a model: it has a configuration or a version.
bool IsModelDirectory(const std::string& path);

/// Returns every rule that CheckRepositories applies: those of texts, of configurations (AllRules),
/// of ensembles' members and of files.
std::vector<config::RuleInfo> ListCheckRules();

}  // namespace nereid::repository
