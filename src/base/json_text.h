// SPDX-License-Identifier: Apache-2.0
// The escaping of JSON strings: RFC 8259 section 7. JSON is UTF-8, so U+FFFD replaces other bytes.
// Hexadecimal digits are upper case, as Triton writes them.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace nereid::base {

/// Returns whether a JSON string must escape this character: '"', '\\' and control characters.
inline bool NeedsJsonEscape(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\';
}

namespace internal {

constexpr uint64_t kOnes = 0x0101010101010101;
constexpr uint64_t kHighBits = 0x8080808080808080;

/// Returns the high bit of each byte of `word` that is below `limit` (at most 0x80). Bytes above
/// the lowest match may be marked wrongly.
constexpr uint64_t BytesBelow(uint64_t word, uint64_t limit) {
  return (word - kOnes * limit) & ~word & kHighBits;
}

}  // namespace internal

/// Returns the first byte of [`first`, `last`) that needs an escape, or `last`. Examines eight
/// bytes at a time, because the names and strings in requests are most of a small document.
inline const char* FindJsonSpecial(const char* first, const char* last) {
  static_assert(std::endian::native == std::endian::little, "the lowest byte comes first");
  using internal::BytesBelow;
  using internal::kOnes;
  while (last - first >= 8) {
    uint64_t word;
    std::memcpy(&word, first, sizeof(word));
    const uint64_t special = BytesBelow(word, 0x20) | BytesBelow(word ^ (kOnes * '"'), 1) |
                             BytesBelow(word ^ (kOnes * '\\'), 1);
    if (special != 0) return first + std::countr_zero(special) / 8;
    first += 8;
  }
  while (first != last && !NeedsJsonEscape(*first)) ++first;
  return first;
}

/// The length of the longest escape.
inline constexpr size_t kMaxJsonEscape = 6;

/// Writes the escape of a character that needs one and returns its end.
char* WriteJsonEscape(char c, char* out);

/// Appends `text` as a JSON string with its quotes.
void AppendJsonQuoted(std::string_view text, std::string* out);

/// Returns `text` as a JSON string with its quotes.
std::string JsonQuote(std::string_view text);

}  // namespace nereid::base
