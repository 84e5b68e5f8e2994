// SPDX-License-Identifier: Apache-2.0
// The rules of JSON numbers; fast_float converts the doubles
// (docs/decisions/0013-number-reader.md).
#include <fast_float/fast_float.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "codec/json/number_text.h"

namespace nereid::codec::json {
namespace {

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

/// Reads digits. The value is valid only if at most 19 digits are significant. The position of the
/// last digit within a word is random, so it is computed without a branch.
inline const char* ReadDigits(const char* p, const char* end, uint64_t* value) {
  uint64_t v = 0;
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

bool IsExponent(char c) { return c == 'e' || c == 'E'; }

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

/// Reads a double of any length. `begin` must be at a '-' or a digit, and a point must be followed
/// by a digit; fast_float accepts more than JSON otherwise.
const char* ReadDouble(const char* begin, const char* end, Number* number) {
  double d = 0;
  const char* const p = fast_float::from_chars(begin, end, d).ptr;
  if (p != end && IsExponent(*p)) {
    number->kind = Number::Kind::kNoExponent;
    return p;
  }
  // Numbers that are too small become zero.
  number->kind = std::isinf(d) ? Number::Kind::kTooBig : Number::Kind::kDouble;
  number->d = d;
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

  const char* const integer = p;
  uint64_t w = 0;
  if (*p == '0') {
    if (++p != end && IsDigit(*p)) {
      number->kind = Number::Kind::kNotANumber;
      return p;
    }
  } else {
    p = ReadDigits(p, end, &w);
  }
  if (p != end && *p == '.') {
    if (++p == end || !IsDigit(*p)) {
      number->kind = Number::Kind::kNoFraction;
      return p;
    }
    return ReadDouble(begin, end, number);
  }
  if (p != end && IsExponent(*p)) return ReadDouble(begin, end, number);
  constexpr ptrdiff_t kMaxSafeDigits = 19;  // w has not overflowed
  if (p - integer <= kMaxSafeDigits || std::from_chars(integer, p, w).ec == std::errc()) {
    SetInteger(w, negative, number);
    return p;
  }
  return ReadDouble(begin, p, number);
}

template <typename T>
size_t ReadPlainNumbers(const char** p, const char* end, size_t count, T* out) {
  size_t n = 0;
  for (const char* next = *p; n < count; ++n, *p = next) {
    const char* const first = next + (next != end && *next == '-' ? 1 : 0);
    if (end - first < 2 || !IsDigit(first[0])) return n;
    if (first[0] == '0' && IsDigit(first[1])) return n;
    double d = 0;
    // Without exponents, the only text that fast_float accepts and JSON does not is "1.". Numbers
    // with an exponent are rare and are read twice.
    const char* after = fast_float::from_chars(next, end, d, fast_float::chars_format::fixed).ptr;
    if (after[-1] == '.') return n;
    if (after != end && IsExponent(*after)) after = fast_float::from_chars(next, end, d).ptr;
    const T value = static_cast<T>(d);
    // ReadNumber and its caller refuse a number that becomes infinite.
    if (after == end || *after != ',' || std::isinf(value)) return n;
    next = after + 1;
    next += next != end && *next == ' ';
    out[n] = value;
  }
  return n;
}

template size_t ReadPlainNumbers(const char**, const char*, size_t, float*);
template size_t ReadPlainNumbers(const char**, const char*, size_t, double*);

}  // namespace nereid::codec::json
