// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "config/model_config.h"

namespace nereid::app::tools {

/// Returns whether a model that the ensemble calls, directly or through other ensembles, is
/// decoupled. Reads the configurations in the directories beside `model_directory`; a configuration
/// that does not exist or cannot be read counts as not decoupled. Cycles of ensembles are allowed.
bool HasDecoupledMember(const std::string& model_directory, const config::ModelConfig& ensemble);

/// Returns the configuration of the ensemble that the server's config endpoint would return. Its
/// field `decoupled` is the result of HasDecoupledMember, whatever the ensemble's own file
/// contains.
base::Result<config::ModelConfigPtr> WithDecoupledOfMembers(const std::string& model_directory,
                                                            const config::ModelConfig& ensemble);

}  // namespace nereid::app::tools
