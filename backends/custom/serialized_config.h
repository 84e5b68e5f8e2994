// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "nereid/backend/error.h"

namespace nereid::custom {

/// Converts a model configuration from JSON to a serialized ModelConfig (model_config.proto).
/// Unknown fields are left out, because the server may be newer than this plug-in.
backend::Error SerializeConfig(std::string_view json, std::string* bytes);

}  // namespace nereid::custom
