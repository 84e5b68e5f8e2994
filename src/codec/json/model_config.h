// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "config/model_config.h"

namespace nereid::codec::json {

/// Returns the response body of a model's configuration: all fields, as Triton prints them.
std::string EncodeModelConfig(const config::ModelConfig& config);

}  // namespace nereid::codec::json
