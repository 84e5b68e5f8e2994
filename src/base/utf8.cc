// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.h"

#include <algorithm>
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

bool IsContinuation(char c) { return (static_cast<uint8_t>(c) & 0xc0) == 0x80; }

}  // namespace

// Eight ASCII bytes are checked at a time.
size_t ValidUtf8Prefix(std::string_view text) {
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
      if (!IsContinuation(text[at + i])) return at;
    }
    at += length;
  }
  return at;
}

bool IsUtf8(std::string_view text) { return ValidUtf8Prefix(text) == text.size(); }

std::string ReplaceInvalidUtf8(std::string_view text) {
  std::string valid;
  while (true) {
    const size_t length = ValidUtf8Prefix(text);
    valid += text.substr(0, length);
    if (length == text.size()) return valid;
    valid += kReplacementCharacter;
    text.remove_prefix(length + 1);
  }
}

size_t IncompleteUtf8Suffix(std::string_view text) {
  constexpr size_t kMaxIncomplete = 3;  // of a character of four bytes
  for (size_t size = 1; size <= std::min(kMaxIncomplete, text.size()); ++size) {
    const char first = text[text.size() - size];
    if (IsContinuation(first)) continue;
    uint8_t low, high;
    if (SequenceLength(static_cast<uint8_t>(first), &low, &high) <= size) return 0;
    if (size == 1) return 1;
    const auto second = static_cast<uint8_t>(text[text.size() - size + 1]);
    return second >= low && second <= high ? size : 0;
  }
  return 0;
}

std::string ShortenMiddle(std::string_view text, size_t max_size) {
  if (text.size() <= max_size) return ReplaceInvalidUtf8(text);
  constexpr size_t kMarkRoom = 48;  // the longest mark
  const size_t room = max_size - std::min(max_size, kMarkRoom);
  constexpr int kMaxContinuations = 3;
  size_t head = room / 3;
  size_t tail = text.size() - (room - head);
  for (int i = 0; i < kMaxContinuations && head > 0 && IsContinuation(text[head]); ++i) --head;
  for (int i = 0; i < kMaxContinuations && tail < text.size() && IsContinuation(text[tail]); ++i) {
    ++tail;
  }
  return ReplaceInvalidUtf8(text.substr(0, head)) + "\n... " + std::to_string(tail - head) +
         " bytes are left out ...\n" + ReplaceInvalidUtf8(text.substr(tail));
}

}  // namespace nereid::base
