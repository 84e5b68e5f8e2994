// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "codec/json/text_buffer.h"

namespace nereid::codec::json {

/// Appends the object that reports an error: {"error": "<message>"}.
inline void AppendError(std::string_view message, TextBuffer* json) {
  *json << "{\"error\":";
  json->AppendQuoted(message) << '}';
}

}  // namespace nereid::codec::json
