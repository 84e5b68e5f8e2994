// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <charconv>
#include <cstring>
#include <limits>

#include "codec/json/number_text.h"
#include "codec/json/powers_of_ten.h"

namespace nereid::codec::json {
namespace {

constexpr double kExactPowers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

bool IsDigit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

uint64_t Load8(const char* p) {
  uint64_t chunk;
  std::memcpy(&chunk, p, 8);
  return chunk;  // little-endian: the first character is the lowest byte
}

/// Returns the upper bit of each byte that is not a digit.
uint64_t NonDigits(uint64_t chunk) {
  const uint64_t t = chunk ^ 0x3030303030303030;
  return (((t & 0x7F7F7F7F7F7F7F7F) + 0x7676767676767676) | t) & 0x8080808080808080;
}

/// Returns the value of eight digits, adding neighbors in pairs: 8 × 1 digit, 4 × 2, 2 × 4, 1 × 8.
uint64_t Value8(uint64_t chunk) {
  chunk -= 0x3030303030303030;
  chunk = chunk * 10 + (chunk >> 8);
  const uint64_t odd = (chunk & 0x000000FF000000FF) * 0x000F424000000064;
  const uint64_t even = ((chunk >> 16) & 0x000000FF000000FF) * 0x0000271000000001;
  return (odd + even) >> 32;
}

constexpr uint64_t kTens[] = {1, 10, 100, 1'000, 10'000, 100'000, 1'000'000, 10'000'000};

/// Appends digits to `value`, which is valid only if at most 19 digits are significant. The
/// position of the last digit within a word is random, so it is computed without a branch.
inline const char* ReadDigits(const char* p, const char* end, uint64_t* value) {
  uint64_t v = *value;
  while (end - p >= 8) {
    const uint64_t chunk = Load8(p);
    const uint64_t stop = NonDigits(chunk);
    if (stop == 0) {
      v = v * 100'000'000 + Value8(chunk);
      p += 8;
      continue;
    }
    const int bits = std::countr_zero(stop) - 7;  // eight for each digit
    // Moves the digits to the upper end and fills the lower bytes with the character '0', which
    // stands for leading zeros.
    const uint64_t padded = (chunk << 8 << (56 - bits)) | (0x3030303030303030 >> bits);
    *value = v * kTens[bits / 8] + Value8(padded);
    return p + bits / 8;
  }
  while (p != end && IsDigit(*p)) v = v * 10 + static_cast<uint64_t>(*p++ - '0');
  *value = v;
  return p;
}

/// Computes w * 10^q for w != 0. Returns false if 64 bits of the power do not determine the
/// rounding, which happens for about one number in 200, or if the result is not a normal double.
inline bool RoundProduct(uint64_t w, int q, double* result) {
  if (q < kLeastPower || q > kGreatestPower) return false;
  const int shift = std::countl_zero(w);
  w <<= shift;
  // The entry exceeds the true power by less than 1 in its 126th bit. Cut to 64 bits, the true
  // value lies in [power, power + 1].
  const PowerOfTen& entry = TenToThe(q);
  const uint64_t power = (entry.high << 1) | (entry.low >> 62);
  // The error, w times at most 1, is less than one unit of the upper half of the product.
  const unsigned __int128 product = static_cast<unsigned __int128>(w) * power;
  const int lift = static_cast<int>(~static_cast<uint64_t>(product >> 64) >> 63);
  const uint64_t high = static_cast<uint64_t>((product << lift) >> 64);
  const int binary_exponent = FloorLog2TenToThe(q) + 1 - shift - lift;  // value = high * 2^this
  const uint64_t below = high & 0x7FF;  // the 11 bits below a double's 53
  constexpr uint64_t kHalf = 0x400;
  constexpr uint64_t kDoubt = 5;
  if (below - (kHalf - kDoubt) <= 2 * kDoubt) return false;
  uint64_t mantissa = (high >> 11) + (below > kHalf ? 1 : 0);
  int exponent = binary_exponent + 11 + 52;
  if (mantissa >> 53 != 0) {
    mantissa >>= 1;
    exponent += 1;
  }
  if (exponent < -1022 || exponent > 1023) return false;
  const uint64_t bits =
      (static_cast<uint64_t>(exponent + 1023) << 52) | (mantissa & 0xFFFFFFFFFFFFF);
  *result = std::bit_cast<double>(bits);
  return true;
}

inline bool ToDouble(uint64_t w, int64_t q, double* result) {
  if (w == 0) {
    *result = 0.0;
    return true;
  }
  // Both operands are exact doubles, so a single operation rounds correctly.
  if (w < 1'000'000'000'000'000 && q >= -22 && q <= 22) {
    const double d = static_cast<double>(w);
    *result = q < 0 ? d / kExactPowers[-q] : d * kExactPowers[q];
    return true;
  }
  if (q < kLeastPower || q > kGreatestPower) return false;
  return RoundProduct(w, static_cast<int>(q), result);
}

/// Converts well-formed text of any length.
void SlowDouble(const char* begin, const char* end, Number* number) {
  double d = 0;
  const std::from_chars_result result = std::from_chars(begin, end, d);
  if (result.ec == std::errc::result_out_of_range) {
    // A too small number is zero and a too large one an error; from_chars does not tell them apart.
    const char* exponent = begin;
    while (exponent != end && *exponent != 'e' && *exponent != 'E') ++exponent;
    bool small = exponent != end && end - exponent > 1 && exponent[1] == '-';
    const char* digit = begin + (*begin == '-' ? 1 : 0);
    if (exponent == end) small = *digit == '0';
    if (!small) {
      number->kind = Number::Kind::kTooBig;
      return;
    }
    d = *begin == '-' ? -0.0 : 0.0;
  }
  number->kind = Number::Kind::kDouble;
  number->d = d;
}

const char* ReadLiteral(const char* p, const char* end, bool negative, Number* number) {
  const auto matches = [&](const char* word, ptrdiff_t size) {
    return end - p >= size && std::memcmp(p, word, static_cast<size_t>(size)) == 0;
  };
  double d;
  if (matches("NaN", 3)) {
    d = std::numeric_limits<double>::quiet_NaN();
    p += 3;
  } else if (matches("Infinity", 8)) {
    d = std::numeric_limits<double>::infinity();
    p += 8;
  } else if (matches("Inf", 3)) {
    d = std::numeric_limits<double>::infinity();
    p += 3;
  } else {
    number->kind = Number::Kind::kNotANumber;
    return p;
  }
  number->kind = Number::Kind::kDouble;
  number->d = negative ? -d : d;
  return p;
}

/// Adds the exponent after the 'e' to `exponent`, limited to a value far beyond the range of a
/// double. Returns null if there is no digit.
const char* ReadExponent(const char* p, const char* end, int64_t* exponent) {
  bool negative = false;
  if (p != end && (*p == '-' || *p == '+')) negative = *p++ == '-';
  const char* first = p;
  int64_t value = 0;
  for (; p != end && IsDigit(*p); ++p) {
    if (value < 1'000'000) value = value * 10 + (*p - '0');
  }
  if (p == first) return nullptr;
  *exponent += negative ? -value : value;
  return p;
}

void SetInteger(uint64_t w, bool negative, Number* number) {
  if (!negative) {
    number->kind = Number::Kind::kUnsigned;
    number->u = w;
  } else if (w <= uint64_t{1} << 63) {
    number->kind = Number::Kind::kNegative;
    number->i = static_cast<int64_t>(~w + 1);
  } else {
    number->kind = Number::Kind::kDouble;
    number->d = -static_cast<double>(w);
  }
}

}  // namespace

const char* ReadNumber(const char* p, const char* end, Number* number) {
  const char* const begin = p;
  const bool negative = p != end && *p == '-';
  if (negative) ++p;
  if (p == end || !IsDigit(*p)) return ReadLiteral(p, end, negative, number);

  uint64_t w = 0;
  const char* const integer = p;
  if (*p == '0') {
    ++p;
    if (p != end && IsDigit(*p)) {
      number->kind = Number::Kind::kNotANumber;
      return p;
    }
  } else {
    p = ReadDigits(p, end, &w);
  }
  int64_t digits = p - integer;
  int64_t exponent = 0;
  const bool is_integer = p == end || (*p != '.' && *p != 'e' && *p != 'E');
  if (is_integer && digits <= 19) {
    SetInteger(w, negative, number);
    return p;
  }
  if (is_integer) {
    uint64_t exact = 0;
    if (std::from_chars(integer, p, exact).ec == std::errc()) {
      SetInteger(exact, negative, number);
    } else {
      SlowDouble(begin, p, number);
    }
    return p;
  }
  if (*p == '.') {
    const char* const fraction = ++p;
    p = ReadDigits(p, end, &w);
    if (p == fraction) {
      number->kind = Number::Kind::kNoFraction;
      return p;
    }
    exponent = fraction - p;
    digits += p - fraction;
  }
  if (p != end && (*p == 'e' || *p == 'E')) {
    const char* const after = ReadExponent(p + 1, end, &exponent);
    if (after == nullptr) {
      number->kind = Number::Kind::kNoExponent;
      return p;
    }
    p = after;
  }
  if (digits > 19) {
    // Leading zeros ("0.000…") are not significant; they are the usual reason for many digits.
    const char* first = integer;
    for (; first != p && (*first == '0' || *first == '.'); ++first) digits -= *first == '0';
  }
  double d;
  if (digits <= 19 && ToDouble(w, exponent, &d)) {
    number->kind = Number::Kind::kDouble;
    number->d = negative ? -d : d;
  } else {
    SlowDouble(begin, p, number);
  }
  return p;
}

template <typename T>
size_t ReadPlainNumbers(const char** p, const char* end, size_t count, T* out) {
  size_t n = 0;
  for (const char* next = *p; n < count && end - next > 1; ++n, *p = next) {
    const bool negative = *next == '-';
    next += negative;
    const char* const integer = next;
    uint64_t w = 0;
    const bool zero = *next == '0';
    if (next + 1 != end && next[1] == '.') {
      w = static_cast<uint64_t>(*next - '0');
      if (w > 9) return n;
      ++next;
    } else {
      if (zero) return n;
      next = ReadDigits(next, end, &w);
    }
    int64_t digits = next - integer;
    int64_t exponent = 0;
    if (digits == 0 || next == end) return n;
    if (*next == '.') {
      const char* const fraction = ++next;
      next = ReadDigits(next, end, &w);
      exponent = fraction - next;
      digits -= exponent;
      if (exponent == 0 || next == end) return n;
    }
    double d;
    if (*next != ',' || digits > (zero ? 20 : 19) || !ToDouble(w, exponent, &d)) return n;
    ++next;
    next += next != end && *next == ' ';
    out[n] = static_cast<T>(negative ? -d : d);
  }
  return n;
}

template size_t ReadPlainNumbers(const char**, const char*, size_t, float*);
template size_t ReadPlainNumbers(const char**, const char*, size_t, double*);

}  // namespace nereid::codec::json
