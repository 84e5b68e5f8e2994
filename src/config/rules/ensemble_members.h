// SPDX-License-Identifier: Apache-2.0
// Rules for ensembles that need the configurations of their members.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "config/model_config.h"
#include "config/rules/find_problems.h"
#include "config/rules/validate.h"

namespace nereid::config {

/// What is known about a model that an ensemble may call.
struct EnsembleMember {
  const ModelConfig* config = nullptr;
  /// The versions that are served, or would be served.
  std::vector<int64_t> versions;
  /// Whether the backend would still complete the configuration. Inputs and outputs that it does
  /// not list may exist then.
  bool incomplete = false;
};

/// Returns the member with this name, or null if no model or more than one has it.
using FindMember = std::function<const EnsembleMember*(const std::string& name)>;

/// Returns the problems that keep the ensemble from calling its members, with Triton's messages.
/// The configuration itself must be valid.
std::vector<Problem> FindMemberProblems(const ModelConfig& ensemble, const FindMember& find);

/// Returns the names of ensembles that call each other in a cycle, beginning with `start`; empty if
/// there is no such cycle.
std::vector<std::string> FindEnsembleCircle(const std::string& start, const FindMember& find);

/// Returns the rules of FindMemberProblems, in the order in which they are applied.
std::vector<RuleInfo> MemberRules();

}  // namespace nereid::config
