// SPDX-License-Identifier: Apache-2.0
// The rules of ensembles that need the configurations of their members.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "config/model_config.h"
#include "config/rules/find_problems.h"
#include "config/rules/validate.h"

namespace nereid::config {

/// What is known of a model that an ensemble may call.
struct EnsembleMember {
  const ModelConfig* config = nullptr;
  /// The versions that are, or would be, served.
  std::vector<int64_t> versions;
  /// The backend would add to the configuration: inputs and outputs that it does not list may
  /// exist.
  bool incomplete = false;
};

/// The member of that name; null if there is none, or more than one.
using FindMember = std::function<const EnsembleMember*(const std::string& name)>;

/// What keeps the ensemble from calling its members. The messages are the server's. The
/// configuration must be without errors of its own.
std::vector<Problem> FindMemberProblems(const ModelConfig& ensemble, const FindMember& find);

/// The names of a circle of ensembles that call each other, beginning with `start`; empty if there
/// is none.
std::vector<std::string> FindEnsembleCircle(const std::string& start, const FindMember& find);

/// The rules behind FindMemberProblems, in the order in which they are applied.
std::vector<RuleInfo> MemberRules();

}  // namespace nereid::config
