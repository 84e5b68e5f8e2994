// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace nereid::codec::json {

/// A JSON number as the protocol tells numbers apart: by how they are written. The literals NaN,
/// Inf, Infinity and their negatives count as doubles.
struct Number {
  enum class Kind : uint8_t {
    kNotANumber,  // the text is no number at all
    kTooBig,      // more than a double can hold
    kNoFraction,  // a point without a digit after it
    kNoExponent,  // an 'e' without a digit after it
    kUnsigned,    // an integer in [0, 2^64)
    kNegative,    // an integer in [-2^63, 0]
    kDouble,
  };
  Kind kind = Kind::kNotANumber;
  union {
    uint64_t u = 0;  // kUnsigned
    int64_t i;       // kNegative
    double d;        // kDouble
  };

  bool ok() const { return kind >= Kind::kUnsigned; }
  double AsDouble() const {
    if (kind == Kind::kDouble) return d;
    return kind == Kind::kUnsigned ? static_cast<double>(u) : static_cast<double>(i);
  }
};

/// Reads the number that begins at `p` (never past `end`) and returns where it stops; correctly
/// rounded to the nearest double. On failure `number->kind` says why, and the return value where.
const char* ReadNumber(const char* p, const char* end, Number* number);

/// The fast way through long arrays: reads up to `count` numbers in their usual form ("-12.5",
/// "7", no exponent), each followed by a comma and perhaps a space, and moves `*p` behind what is
/// read. Stops early at anything else: ReadNumber can tell what that is.
template <typename T>
size_t ReadPlainNumbers(const char** p, const char* end, size_t count, T* out);
extern template size_t ReadPlainNumbers(const char**, const char*, size_t, float*);
extern template size_t ReadPlainNumbers(const char**, const char*, size_t, double*);

/// The room that `out` must have for WriteDouble and WriteInteger. The text is at most 32
/// characters long, but bytes behind it may be overwritten.
inline constexpr size_t kNumberRoom = 72;

/// Writes the shortest decimal that reads back as `value`, as the protocol's servers print it:
/// always with a point or an exponent ("1.0", "1e30", "0.00001"); NaN, Infinity, -Infinity.
/// Returns the end of the text.
char* WriteDouble(double value, char* out);

char* WriteInteger(int64_t value, char* out);
char* WriteInteger(uint64_t value, char* out);

}  // namespace nereid::codec::json
