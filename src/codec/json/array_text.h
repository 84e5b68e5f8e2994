// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/json_writer.h"

namespace nereid::codec::json {

/// Writes `items` as an array; `write(item, json)` writes an item.
template <typename Items, typename Write>
void WriteArray(const Items& items, base::JsonWriter* json, Write&& write) {
  json->BeginArray();
  for (const auto& item : items) write(item, json);
  json->EndArray();
}

/// Writes `texts` as an array of strings.
inline void WriteTextArray(const std::vector<std::string>& texts, base::JsonWriter* json) {
  WriteArray(texts, json,
             [](const std::string& text, base::JsonWriter* out) { out->String(text); });
}

}  // namespace nereid::codec::json
