// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "config/model_config.h"

namespace nereid::model {

/// The settings of a configuration that this server accepts and does nothing with, each with the
/// reason: "optimization.priority: …". Said once when the model is loaded, beside what the rules warn of
/// (config/rules), so that no setting is dropped in silence.
std::vector<std::string> SettingNotes(const config::ModelConfig& config);

}  // namespace nereid::model
