// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace nereid::base {

/// Returns the number whose bytes these are, the lowest first; 0 for none. There may be at most 8.
constexpr uint64_t FromLittleEndian(std::string_view bytes) {
  uint64_t number = 0;
  for (size_t i = bytes.size(); i > 0; --i) {
    number = number << 8 | static_cast<unsigned char>(bytes[i - 1]);
  }
  return number;
}

/// Returns the bytes of an integer, the lowest first.
template <typename T>
constexpr std::array<char, sizeof(T)> ToLittleEndian(T value) {
  std::array<char, sizeof(T)> bytes = {};
  for (size_t i = 0; i < sizeof(T); ++i) {
    bytes[i] = static_cast<char>(static_cast<uint64_t>(value) >> (8 * i));
  }
  return bytes;
}

}  // namespace nereid::base
