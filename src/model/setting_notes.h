// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "config/model_config.h"

namespace nereid::model {

/// The settings of a configuration that change nothing here, each with the reason: "cc_model_files:
/// …". What is said once when the model is loaded, so that no setting is dropped in silence.
std::vector<std::string> SettingNotes(const config::ModelConfig& config);

}  // namespace nereid::model
