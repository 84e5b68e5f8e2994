// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace nereid::tensorflow {

/// Returns text from a model file in a form for messages: other bytes than ASCII become \xNN, and a
/// long text is shortened.
inline std::string Printable(std::string_view text, size_t most = 2000) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (const char c : text.substr(0, most)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte == '\n' || byte == '\t' || (byte >= 0x20 && byte < 0x7f)) {
      out.push_back(c);
    } else {
      out += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return text.size() > most ? out + "..." : out;
}

}  // namespace nereid::tensorflow
