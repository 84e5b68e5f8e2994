// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace nereid::tracing {

/// `text` as a JSON string with its quotes. Where it is no UTF-8, which JSON must be, each byte
/// above 0x7f is written as the character of that number.
std::string QuotedText(std::string_view text);

}  // namespace nereid::tracing
