// SPDX-License-Identifier: Apache-2.0
// Letters of ASCII without regard to case, as in the names of HTTP's fields. Independent of the
// locale.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace nereid::base {

inline char LowerCase(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

inline std::string ToLower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), LowerCase);
  return lower;
}

inline bool EqualsIgnoringCase(std::string_view a, std::string_view b) {
  // Most texts are written in the usual way, which is compared many bytes at a time.
  return a == b || std::equal(a.begin(), a.end(), b.begin(), b.end(),
                              [](char x, char y) { return LowerCase(x) == LowerCase(y); });
}

}  // namespace nereid::base
