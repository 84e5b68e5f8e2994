// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>

#include "base/result.h"
#include "config/model_config.h"
#include "repository/model_id.h"
#include "repository/model_table.h"

namespace nereid::repository {

/// Returns the names of the models that an ensemble calls; empty for other models.
std::set<std::string> MembersOf(const config::ModelConfig& config);

/// The state of the repository that the link of an ensemble depends on.
struct EnsembleSurroundings {
  const ModelTable& table;
  /// Returns the model that a name in a step of `caller` refers to; nothing if there is none, or
  /// several. The results for the ensemble itself must not change while it is linked.
  std::function<std::optional<ModelId>(const ModelId& caller, const std::string& name)> resolve =
      {};
  /// Returns the last failure of a model, or OK.
  std::function<base::Status(const ModelId& id)> failure_of = {};
  /// Returns the configuration of an ensemble that is known but does not serve, which is needed to
  /// find cycles; null for other models.
  std::function<config::ModelConfigPtr(const ModelId& id)> config_of = {};
};

/// Checks an ensemble against the models that serve, and completes its configuration: the ensemble
/// is decoupled if one of its members is, and the namespace of each step is set, which replaces a
/// written one. INVALID_ARGUMENT names the first mismatch.
base::Result<config::ModelConfigPtr> LinkEnsemble(const ModelId& id,
                                                  const config::ModelConfig& ensemble,
                                                  const EnsembleSurroundings& surroundings);

}  // namespace nereid::repository
