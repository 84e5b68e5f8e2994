// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rapidjson/document.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace nereid::repository::storage {

/// Parses a text that must be one JSON object. `what` is for the error, which is INTERNAL.
base::Result<rapidjson::Document> ParseJsonObject(std::string_view text, std::string_view what);

/// Returns the member of an object, or null if `object` is no object or has no such member.
const rapidjson::Value* FindMember(const rapidjson::Value& object, const char* name);

/// Returns a member that is a string; otherwise an empty text.
std::string TextMember(const rapidjson::Value& object, const char* name);

/// Returns a member that is a number that fits, or a string of decimal digits.
std::optional<uint64_t> NumberMember(const rapidjson::Value& object, const char* name);

}  // namespace nereid::repository::storage
