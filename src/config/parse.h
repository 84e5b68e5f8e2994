// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "config/model_config.h"

namespace nereid::config {

/// Reads a configuration in protobuf's text format. `path` is for messages only. A failure
/// (INTERNAL, as a file that cannot be read would be) names the line and the column, and for an
/// unknown field or enum value the nearest one that exists. Nothing is defaulted or checked beyond
/// the syntax.
base::Result<ModelConfigPtr> ParseModelConfigText(std::string_view text, const std::string& path);

/// Reads a configuration in protobuf's JSON form (field names in snake_case or camelCase, enum
/// names in any case, 64-bit numbers as numbers or strings). Unknown fields are refused.
base::Result<ModelConfigPtr> ParseModelConfigJson(std::string_view json);

}  // namespace nereid::config
