// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace nereid::codec::json {

/// Decodes base64; ignores characters that are not base64 digits.
std::string DecodeBase64(std::string_view text);

}  // namespace nereid::codec::json
