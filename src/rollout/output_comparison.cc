// SPDX-License-Identifier: Apache-2.0
#include "rollout/output_comparison.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <sstream>

namespace nereid::rollout {
namespace {

using tensor::DataType;

template <typename T>
T Load(const char* data) {
  T value;
  std::memcpy(&value, data, sizeof(value));
  return value;
}

/// IEEE 754 binary16.
double HalfToDouble(uint16_t bits) {
  const int exponent = (bits >> 10) & 0x1f;
  const int fraction = bits & 0x3ff;
  double value = 0;
  if (exponent == 0x1f) {
    value = fraction != 0 ? std::nan("") : INFINITY;
  } else if (exponent == 0) {
    value = std::ldexp(fraction, -24);
  } else {
    value = std::ldexp(fraction + 1024, exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -value : value;
}

/// The upper half of a binary32.
double Bf16ToDouble(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

/// Returns an element as a number. Integers above 2^53 lose their lowest bits, which only a
/// tolerance of less than these bits could notice; equal bytes are never converted.
double ElementAt(DataType type, const char* data) {
  switch (type) {
    case DataType::kUint8:
      return Load<uint8_t>(data);
    case DataType::kUint16:
      return Load<uint16_t>(data);
    case DataType::kUint32:
      return Load<uint32_t>(data);
    case DataType::kUint64:
      return static_cast<double>(Load<uint64_t>(data));
    case DataType::kInt8:
      return Load<int8_t>(data);
    case DataType::kInt16:
      return Load<int16_t>(data);
    case DataType::kInt32:
      return Load<int32_t>(data);
    case DataType::kInt64:
      return static_cast<double>(Load<int64_t>(data));
    case DataType::kFp16:
      return HalfToDouble(Load<uint16_t>(data));
    case DataType::kBf16:
      return Bf16ToDouble(Load<uint16_t>(data));
    case DataType::kFp32:
      return Load<float>(data);
    case DataType::kFp64:
      return Load<double>(data);
    default:
      return 0;
  }
}

bool IsWithin(double expected, double actual, const Tolerance& tolerance) {
  if (std::isnan(expected) || std::isnan(actual)) return std::isnan(expected) == std::isnan(actual);
  if (std::isinf(expected) || std::isinf(actual)) return expected == actual;
  return std::fabs(expected - actual) <=
         tolerance.absolute + tolerance.relative * std::fabs(expected);
}

/// Returns the byte where the two texts, of equal size, first differ.
size_t FirstDifferentByte(std::string_view a, std::string_view b) {
  return static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin()).first - a.begin());
}

std::string Element(const AnswerTensor& tensor, size_t index, double expected, double actual) {
  std::ostringstream text;
  text.precision(9);
  text << "output '" << tensor.name << "', element " << index << ": " << actual << " instead of "
       << expected;
  return text.str();
}

std::optional<std::string> NumbersDiffer(const AnswerTensor& expected, const AnswerTensor& actual,
                                         const Tolerance& tolerance) {
  const size_t size = tensor::DataTypeByteSize(expected.type);
  for (size_t at = 0; at + size <= expected.bytes.size(); at += size) {
    if (std::memcmp(expected.bytes.data() + at, actual.bytes.data() + at, size) == 0) continue;
    const double a = ElementAt(expected.type, expected.bytes.data() + at);
    const double b = ElementAt(expected.type, actual.bytes.data() + at);
    if (!IsWithin(a, b, tolerance)) return Element(expected, at / size, a, b);
  }
  return std::nullopt;
}

bool IsNumber(DataType type) {
  return type != DataType::kBytes && type != DataType::kBool && type != DataType::kInvalid;
}

std::optional<std::string> BytesDiffer(const AnswerTensor& expected, const AnswerTensor& actual) {
  if (expected.bytes == actual.bytes) return std::nullopt;
  const size_t at = FirstDifferentByte(expected.bytes, actual.bytes);
  if (!IsNumber(expected.type)) {
    return "output '" + expected.name + "' differs at byte " + std::to_string(at);
  }
  const size_t size = tensor::DataTypeByteSize(expected.type);
  const size_t begin = at / size * size;
  if (begin + size > expected.bytes.size()) {
    return "output '" + expected.name + "' differs at byte " + std::to_string(at);
  }
  return Element(expected, at / size, ElementAt(expected.type, expected.bytes.data() + begin),
                 ElementAt(expected.type, actual.bytes.data() + begin));
}

std::string Form(const AnswerTensor& tensor) {
  return std::string(tensor::DataTypeName(tensor.type)) + " " + tensor::ShapeText(tensor.shape);
}

std::optional<std::string> TensorsDiffer(const AnswerTensor& expected, const AnswerTensor& actual,
                                         const Tolerances& tolerances) {
  if (expected.type != actual.type || expected.shape != actual.shape) {
    return "output '" + expected.name + "' is " + Form(actual) + " instead of " + Form(expected);
  }
  if (expected.bytes.size() != actual.bytes.size()) {
    return "output '" + expected.name + "' has " + std::to_string(actual.bytes.size()) +
           " bytes instead of " + std::to_string(expected.bytes.size());
  }
  const auto tolerance = tolerances.find(expected.type);
  if (tolerance == tolerances.end()) return BytesDiffer(expected, actual);
  return NumbersDiffer(expected, actual, tolerance->second);
}

}  // namespace

std::optional<std::string> FirstDifference(const Answer& expected, const Answer& actual,
                                           const Tolerances& tolerances) {
  if (!actual.error.ok()) return "error: " + actual.error.message();
  for (const AnswerTensor& tensor : expected.outputs) {
    const auto same_name = [&](const AnswerTensor& other) { return other.name == tensor.name; };
    const auto found = std::find_if(actual.outputs.begin(), actual.outputs.end(), same_name);
    if (found == actual.outputs.end()) return "output '" + tensor.name + "' is missing";
    if (auto difference = TensorsDiffer(tensor, *found, tolerances)) return difference;
  }
  if (actual.outputs.size() == expected.outputs.size()) return std::nullopt;
  return std::to_string(actual.outputs.size()) + " outputs instead of " +
         std::to_string(expected.outputs.size());
}

}  // namespace nereid::rollout
