// SPDX-License-Identifier: Apache-2.0
// Source: the response of Triton 2.51 to GET v2/models/MODEL/config
// (extension_model_configuration.md), with which tests/peer/test_config_json.py compares it.
#pragma once

#include <string>

#include "config/model_config.h"

namespace nereid::config {

/// Returns the configuration as JSON without white space, in the form that Triton's clients
/// receive. Field names are in snake_case, in the order of their declaration in model_config.proto
/// (scalar members of a oneof last). Scalars, lists and maps are always written; messages and oneof
/// members only if they are set. Enums are written by name, and map keys are sorted. 64-bit numbers
/// are JSON numbers, with three exceptions that Triton writes as strings: the dims of initial
/// states, the dims of CUDA graph shapes, and the ids of secondary devices.
std::string DescribeModelConfigJson(const ModelConfig& config);

}  // namespace nereid::config
