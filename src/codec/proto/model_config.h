// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/model_config.h"

namespace inference {
class ModelConfigResponse;
}  // namespace inference

namespace nereid::codec::proto {

/// Fills the message of a model's configuration.
void EncodeModelConfig(const config::ModelConfig& config, inference::ModelConfigResponse* message);

}  // namespace nereid::codec::proto
