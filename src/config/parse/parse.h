// SPDX-License-Identifier: Apache-2.0
// Sources: protobuf's text format (https://protobuf.dev/reference/protobuf/textformat-spec) and its
// JSON form (https://protobuf.dev/programming-guides/json), as protobuf 3.21 parses them.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "config/model_config.h"

namespace nereid::config {

/// Parses a configuration in protobuf's text format, without adding defaults or checking more than
/// the syntax. `path` is used in messages only. INTERNAL with line and column if parsing fails
/// (Triton uses the same code for files that cannot be read). The message about an unknown field or
/// enum value contains the nearest known name.
base::Result<ModelConfigPtr> ParseModelConfigText(std::string_view text, const std::string& path);

/// Parses a configuration in protobuf's JSON form: field names in snake_case or camelCase, enum
/// names in any case, 64-bit numbers as numbers or strings. INVALID_ARG if parsing fails; unknown
/// fields are errors.
base::Result<ModelConfigPtr> ParseModelConfigJson(std::string_view json);

}  // namespace nereid::config
