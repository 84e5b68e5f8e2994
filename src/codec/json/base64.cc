// SPDX-License-Identifier: Apache-2.0
#include "codec/json/base64.h"

#include <cstdint>

namespace nereid::codec::json {
namespace {

int Base64Digit(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  if (c == '/') return 63;
  return -1;
}

}  // namespace

std::string DecodeBase64(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3 + 3);
  uint32_t collected = 0;
  int bits = 0;
  for (const char c : text) {
    const int digit = Base64Digit(c);
    if (digit < 0) continue;
    collected = (collected << 6) | static_cast<uint32_t>(digit);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes += static_cast<char>((collected >> bits) & 0xFF);
  }
  return bytes;
}

}  // namespace nereid::codec::json
