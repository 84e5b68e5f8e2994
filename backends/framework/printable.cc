// SPDX-License-Identifier: Apache-2.0
#include "framework/printable.h"

#include "base/utf8.h"

namespace nereid::framework {

std::string Printable(std::string_view text, size_t limit) {
  constexpr char kDigits[] = "0123456789abcdef";
  const std::string_view shown = text.substr(0, limit);
  const bool utf8 = base::IsUtf8(shown);
  std::string printable;
  for (const char c : shown) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = byte >= 0x80 ? utf8 : byte >= 0x20 && byte != 0x7f;
    if (plain || c == '\n' || c == '\t') {
      printable += c;
    } else {
      printable += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return text.size() > limit ? printable + "..." : printable;
}

}  // namespace nereid::framework
