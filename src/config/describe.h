// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "config/model_config.h"

namespace nereid::config {

/// The configuration as JSON, without white space: snake_case names in the order of the declaration
/// in model_config.proto (scalar members of a oneof last); every scalar, list and map, default or
/// not; sub-messages and oneof members only where they are set; enums by name; map keys sorted;
/// 64-bit numbers as numbers, but for the dims of initial states and of CUDA graph shapes and the
/// ids of secondary devices, which are strings (clients know them so).
std::string DescribeModelConfigJson(const ModelConfig& config);

}  // namespace nereid::config
