// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "nereid/backend/error.h"

namespace nereid::custom {

/// The protobuf form (ModelConfig of model_config.proto) of a model configuration that came as
/// JSON. Fields that the message lacks are left out: a server may know more than this plug-in.
backend::Error SerializeConfig(std::string_view json, std::string* bytes);

}  // namespace nereid::custom
