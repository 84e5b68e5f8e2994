// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace nereid::codec::json {

/// A JSON number. The kind follows from the text ("1" is kUnsigned, "1.0" is kDouble), as Triton's
/// protocol requires. The literals NaN, Inf, Infinity and their negatives are doubles.
struct Number {
  enum class Kind : uint8_t {
    kNotANumber,  // the text is not a number
    kTooBig,      // exceeds the range of a double
    kNoFraction,  // no digit after the point
    kNoExponent,  // no digit after the 'e'
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

/// Reads the number that begins at `p`, never beyond `end`, and returns where it stops. Doubles are
/// correctly rounded. On failure `number->kind` is the reason and the return value the place.
const char* ReadNumber(const char* p, const char* end, Number* number);

/// The fast path for long arrays: reads up to `count` numbers in their usual form ("-12.5", "7",
/// without an exponent), each followed by a comma and perhaps one space, and moves `*p` after the
/// last one read. Returns how many it read. Stops early at anything else, and at a number that T
/// cannot hold, which ReadNumber must handle.
template <typename T>
size_t ReadPlainNumbers(const char** p, const char* end, size_t count, T* out);
extern template size_t ReadPlainNumbers(const char**, const char*, size_t, float*);
extern template size_t ReadPlainNumbers(const char**, const char*, size_t, double*);

/// The space that `out` must have for WriteDouble and WriteInteger. The text has at most 32
/// characters, but bytes after it may be overwritten.
inline constexpr size_t kNumberRoom = 72;

/// Writes the shortest decimal that reads back as `value`, in Triton's form: always with a point or
/// an exponent ("1.0", "1e30", "0.00001"); NaN, Infinity, -Infinity. Returns the end of the text.
char* WriteDouble(double value, char* out);

char* WriteInteger(int64_t value, char* out);
char* WriteInteger(uint64_t value, char* out);

}  // namespace nereid::codec::json
