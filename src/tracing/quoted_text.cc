// SPDX-License-Identifier: Apache-2.0
#include "tracing/quoted_text.h"

#include <cstdint>

#include "base/log.h"

namespace nereid::tracing {
namespace {

// The bytes of the character that begins with `lead`, and the least number that so many may hold;
// none for a byte that begins no character.
struct Form {
  size_t bytes = 0;
  uint32_t least = 0;
  uint32_t bits = 0;
};

Form FormOf(uint8_t lead) {
  if (lead < 0x80) return {1, 0, lead};
  if ((lead & 0xE0U) == 0xC0) return {2, 0x80, lead & 0x1FU};
  if ((lead & 0xF0U) == 0xE0) return {3, 0x800, lead & 0x0FU};
  if ((lead & 0xF8U) == 0xF0) return {4, 0x10000, lead & 0x07U};
  return {};
}

bool IsUtf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    Form form = FormOf(static_cast<uint8_t>(text[at]));
    if (form.bytes == 0 || form.bytes > text.size() - at) return false;
    for (size_t i = 1; i < form.bytes; ++i) {
      const auto next = static_cast<uint8_t>(text[at + i]);
      if ((next & 0xC0U) != 0x80) return false;
      form.bits = form.bits << 6 | (next & 0x3FU);
    }
    const bool surrogate = form.bits >= 0xD800 && form.bits < 0xE000;
    if (form.bits < form.least || form.bits > 0x10FFFF || surrogate) return false;
    at += form.bytes;
  }
  return true;
}

}  // namespace

std::string QuotedText(std::string_view text) {
  if (IsUtf8(text)) return base::JsonQuote(text);
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
