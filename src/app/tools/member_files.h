// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "config/model_config.h"

namespace nereid::app::tools {

/// Whether a model that the ensemble calls, directly or through other ensembles, is decoupled, as
/// far as the configurations in the directories beside `model_directory` tell: what is not there or
/// cannot be read counts as not decoupled. Ensembles may call each other in circles.
bool HasDecoupledMember(const std::string& model_directory, const config::ModelConfig& ensemble);

/// The configuration of the ensemble as the server's config endpoint gives it: decoupled where
/// HasDecoupledMember says so, whatever its own file says.
base::Result<config::ModelConfigPtr> WithDecoupledOfMembers(const std::string& model_directory,
                                                            const config::ModelConfig& ensemble);

}  // namespace nereid::app::tools
