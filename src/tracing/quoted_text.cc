// SPDX-License-Identifier: Apache-2.0
#include "tracing/quoted_text.h"

#include <cstdint>

#include "base/json_text.h"
#include "base/utf8.h"

namespace nereid::tracing {

std::string QuotedText(std::string_view text) {
  if (base::IsUtf8(text)) return base::JsonQuote(text);
  std::string latin;
  for (const char byte : text) {
    const auto value = static_cast<uint8_t>(byte);
    if (value < 0x80) {
      latin += byte;
    } else {
      latin += static_cast<char>(0xC0U | value >> 6);
      latin += static_cast<char>(0x80U | (value & 0x3FU));
    }
  }
  return base::JsonQuote(latin);
}

}  // namespace nereid::tracing
