// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace nereid::tracing {

/// Returns `text` as a JSON string with quotes. If it is not valid UTF-8, each byte above 0x7f is
/// written as the character with that number (Latin-1).
std::string QuotedText(std::string_view text);

}  // namespace nereid::tracing
