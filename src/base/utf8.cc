// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.h"

#include <cstdint>
#include <cstring>

namespace nereid::base {
namespace {

// Returns the length of the sequence that `lead` starts, and sets the permitted range of the byte
// after it. Returns 0 if `lead` cannot start a sequence. (Unicode standard, table 3-7.)
size_t SequenceLength(uint8_t lead, uint8_t* low, uint8_t* high) {
  *low = 0x80;
  *high = 0xbf;
  if (lead < 0xc2) return 0;
  if (lead < 0xe0) return 2;
  if (lead < 0xf0) {
    if (lead == 0xe0) *low = 0xa0;
    if (lead == 0xed) *high = 0x9f;
    return 3;
  }
  if (lead > 0xf4) return 0;
  if (lead == 0xf0) *low = 0x90;
  if (lead == 0xf4) *high = 0x8f;
  return 4;
}

// Returns how many bytes at the beginning of `text` are well-formed. Eight ASCII bytes are checked
// at a time.
size_t ValidPrefix(std::string_view text) {
  size_t at = 0;
  while (at != text.size()) {
    if (text.size() - at >= 8) {
      uint64_t word;
      std::memcpy(&word, text.data() + at, sizeof(word));
      if ((word & 0x8080808080808080u) == 0) {
        at += 8;
        continue;
      }
    }
    const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[at + i]); };
    if (byte(0) < 0x80) {
      ++at;
      continue;
    }
    uint8_t low, high;
    const size_t length = SequenceLength(byte(0), &low, &high);
    if (length == 0 || text.size() - at < length || byte(1) < low || byte(1) > high) return at;
    for (size_t i = 2; i < length; ++i) {
      if ((byte(i) & 0xc0) != 0x80) return at;
    }
    at += length;
  }
  return at;
}

}  // namespace

bool IsUtf8(std::string_view text) { return ValidPrefix(text) == text.size(); }

std::string ReplaceInvalidUtf8(std::string_view text) {
  std::string valid;
  while (true) {
    const size_t length = ValidPrefix(text);
    valid += text.substr(0, length);
    if (length == text.size()) return valid;
    valid += "\xEF\xBF\xBD";
    text.remove_prefix(length + 1);
  }
}

}  // namespace nereid::base
