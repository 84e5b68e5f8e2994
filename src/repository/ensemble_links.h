// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <set>
#include <string>

#include "base/result.h"
#include "config/model_config.h"
#include "repository/model_table.h"

namespace nereid::repository {

/// The models that an ensemble calls; none for a model that is no ensemble.
std::set<std::string> MembersOf(const config::ModelConfig& config);

/// What is in effect where this is known of the members: an ensemble is decoupled where one of them
/// is, whatever its own file says.
base::Result<config::ModelConfigPtr> WithDecoupled(const config::ModelConfig& ensemble,
                                                   bool decoupled);

/// The last failure of a model; success if it has none.
using FailureOf = std::function<base::Status(const std::string& name)>;

/// Checks an ensemble against the models that serve, and completes its configuration: it is
/// decoupled where one of them is. INVALID_ARGUMENT names the first thing that does not fit.
/// `configs` gives the configurations of ensembles that are known but do not serve, which are
/// needed to find circles; null for others.
base::Result<config::ModelConfigPtr> LinkEnsemble(
    const config::ModelConfig& ensemble, const ModelTable& table, const FailureOf& failure_of,
    const std::function<config::ModelConfigPtr(const std::string& name)>& configs);

}  // namespace nereid::repository
