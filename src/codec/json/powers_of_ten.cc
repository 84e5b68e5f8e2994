// SPDX-License-Identifier: Apache-2.0
#include "codec/json/powers_of_ten.h"

#include <array>
#include <bit>

namespace nereid::codec::json {
namespace {

/// A large unsigned number, least significant word first, with the operations that the table needs.
class BigNumber {
 public:
  static constexpr int kWords = 44;  // 1408 bits: 10^345 < 2^1147, and 2^1280 for the reciprocals

  static constexpr BigNumber PowerOfTwo(int exponent) {
    BigNumber n;
    n.words_[exponent / 32] = uint32_t{1} << (exponent % 32);
    return n;
  }

  constexpr void MultiplyByTen() {
    uint64_t carry = 0;
    for (uint32_t& word : words_) {
      carry += uint64_t{word} * 10;
      word = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
  }

  /// Divides and rounds down. floor(floor(x / 10) / 10) equals floor(x / 100), so repeated division
  /// adds no error.
  constexpr void DivideByTen() {
    uint64_t rest = 0;
    for (int i = kWords - 1; i >= 0; --i) {
      rest = (rest << 32) | words_[i];
      words_[i] = static_cast<uint32_t>(rest / 10);
      rest %= 10;
    }
  }

  constexpr int BitLength() const {
    for (int i = kWords - 1; i >= 0; --i) {
      if (words_[i] != 0) return i * 32 + std::bit_width(words_[i]);
    }
    return 0;
  }

  /// Returns the `count` (< 64) bits at `top` and below; bits below bit 0 are zero.
  constexpr uint64_t Bits(int top, int count) const {
    uint64_t bits = 0;
    for (int i = top; i > top - count; --i) {
      bits = (bits << 1) | (i >= 0 ? (words_[i / 32] >> (i % 32)) & 1 : 0);
    }
    return bits;
  }

 private:
  std::array<uint32_t, kWords> words_{};
};

constexpr PowerOfTen TopBits(const BigNumber& n) {
  const int top = n.BitLength() - 1;
  PowerOfTen power{n.Bits(top, 63), n.Bits(top - 63, 63)};
  power.low += 1;
  if (power.low >> 63 != 0) {
    power.low = 0;
    power.high += 1;
  }
  return power;
}

constexpr PowersOfTen MakeTable() {
  PowersOfTen table{};
  BigNumber n = BigNumber::PowerOfTwo(0);
  for (int k = 0; k <= kMaxPower; ++k, n.MultiplyByTen()) {
    table.entries[k - kMinPower] = TopBits(n);
  }
  // 2^1280 / 10^345 has more than 126 bits, so the truncation error is below the last bit kept.
  n = BigNumber::PowerOfTwo(1280);
  for (int k = -1; k >= kMinPower; --k) {
    n.DivideByTen();
    table.entries[k - kMinPower] = TopBits(n);
  }
  return table;
}

}  // namespace

// Computed at compile time, exactly, with long multiplication and division.
constinit const PowersOfTen kPowersOfTen = MakeTable();

}  // namespace nereid::codec::json
