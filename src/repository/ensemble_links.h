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

/// The names of the models that an ensemble calls; none for a model that is no ensemble.
std::set<std::string> MembersOf(const config::ModelConfig& config);

/// What an ensemble asks of the repository.
struct EnsembleSurroundings {
  const ModelTable& table;
  /// The model that a step of `caller` means by a name; nothing if there is none, or several. The
  /// answers for the ensemble itself must not change while it is linked.
  std::function<std::optional<ModelId>(const ModelId& caller, const std::string& name)> resolve =
      {};
  /// The last failure of a model; success if it has none.
  std::function<base::Status(const ModelId& id)> failure_of = {};
  /// The configurations of ensembles that are known but do not serve, which are needed to find
  /// circles; null for others.
  std::function<config::ModelConfigPtr(const ModelId& id)> config_of = {};
};

/// Checks an ensemble against the models that serve, and completes its configuration: it is
/// decoupled where one of them is, and each step says in which namespace its model is, whatever was
/// written there. INVALID_ARGUMENT names the first thing that does not fit.
base::Result<config::ModelConfigPtr> LinkEnsemble(const ModelId& id,
                                                  const config::ModelConfig& ensemble,
                                                  const EnsembleSurroundings& surroundings);

}  // namespace nereid::repository
