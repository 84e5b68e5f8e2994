// SPDX-License-Identifier: Apache-2.0
#include "app/tools/tensors/number_cells.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "base/narrow.h"

namespace nereid::app::tools {
namespace {

using base::Status;
using codec::json::Number;
using tensor::DataType;

template <typename T>
void Append(T value, std::string* bytes) {
  bytes->append(reinterpret_cast<const char*>(&value), sizeof(value));
}

template <typename T>
T Load(const char* cell) {
  T value;
  std::memcpy(&value, cell, sizeof(value));
  return value;
}

std::string NumberText(const Number& number) {
  char text[codec::json::kNumberRoom];
  switch (number.kind) {
    case Number::Kind::kUnsigned:
      return {text, codec::json::WriteInteger(number.u, text)};
    case Number::Kind::kNegative:
      return {text, codec::json::WriteInteger(number.i, text)};
    default:
      return {text, codec::json::WriteDouble(number.d, text)};
  }
}

Status DoesNotFit(DataType type, const Number& number) {
  return Status::InvalidArgument(NumberText(number) + " is no value of the type " +
                                 std::string(tensor::DataTypeName(type)));
}

template <typename T>
Status AppendInteger(DataType type, const Number& number, std::string* bytes) {
  std::optional<T> value;
  if (number.kind == Number::Kind::kUnsigned) value = base::Narrow<T>(number.u);
  if (number.kind == Number::Kind::kNegative) value = base::Narrow<T>(number.i);
  if (!value) return DoesNotFit(type, number);
  Append(*value, bytes);
  return {};
}

Status AppendBool(const Number& number, std::string* bytes) {
  const double value = number.AsDouble();
  if (value != 0 && value != 1) return DoesNotFit(DataType::kBool, number);
  bytes->push_back(value == 1 ? 1 : 0);
  return {};
}

Number FromUnsigned(uint64_t value) {
  Number number;
  number.kind = Number::Kind::kUnsigned;
  number.u = value;
  return number;
}

Number FromSigned(int64_t value) {
  if (value >= 0) return FromUnsigned(static_cast<uint64_t>(value));
  Number number;
  number.kind = Number::Kind::kNegative;
  number.i = value;
  return number;
}

Number FromDouble(double value) {
  Number number;
  number.kind = Number::Kind::kDouble;
  number.d = value;
  return number;
}

template <typename T>
std::string FloatText(T value) {
  char text[64];
  const auto written = std::to_chars(text, text + sizeof(text), value);
  return {text, written.ptr};
}

}  // namespace

uint16_t HalfFromFloat(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return sign | 0x7e00u;  // NaN
  // From 65520 on, the nearest value is infinity.
  if (magnitude >= 0x477ff000u) return sign | 0x7c00u;
  if (magnitude < 0x38800000u) {
    // A subnormal half is a multiple of 2^-24; the sum below rounds to one.
    constexpr float kMagic = 0.5f;
    const float shifted = std::bit_cast<float>(magnitude) + kMagic;
    return static_cast<uint16_t>(
        sign | (std::bit_cast<uint32_t>(shifted) - std::bit_cast<uint32_t>(kMagic)));
  }
  const uint32_t odd = (magnitude >> 13) & 1u;
  const uint32_t rounded = magnitude - (112u << 23) + 0xfffu + odd;
  return static_cast<uint16_t>(sign | (rounded >> 13));
}

float FloatFromHalf(uint16_t bits) {
  const uint32_t exponent = (bits >> 10) & 0x1fu;
  const uint32_t mantissa = bits & 0x3ffu;
  float value;
  if (exponent == 0x1f) {
    value = mantissa == 0 ? std::numeric_limits<float>::infinity()
                          : std::numeric_limits<float>::quiet_NaN();
  } else if (exponent == 0) {
    value = std::ldexp(static_cast<float>(mantissa), -24);
  } else {
    value = std::bit_cast<float>(((exponent + 112u) << 23) | (mantissa << 13));
  }
  return (bits & 0x8000u) != 0 ? -value : value;
}

uint16_t BfloatFromFloat(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) return static_cast<uint16_t>((bits >> 16) | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

float FloatFromBfloat(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }

Status AppendCell(DataType type, const Number& number, std::string* bytes) {
  const double value = number.AsDouble();
  switch (type) {
    case DataType::kBool:
      return AppendBool(number, bytes);
    case DataType::kUint8:
      return AppendInteger<uint8_t>(type, number, bytes);
    case DataType::kUint16:
      return AppendInteger<uint16_t>(type, number, bytes);
    case DataType::kUint32:
      return AppendInteger<uint32_t>(type, number, bytes);
    case DataType::kUint64:
      return AppendInteger<uint64_t>(type, number, bytes);
    case DataType::kInt8:
      return AppendInteger<int8_t>(type, number, bytes);
    case DataType::kInt16:
      return AppendInteger<int16_t>(type, number, bytes);
    case DataType::kInt32:
      return AppendInteger<int32_t>(type, number, bytes);
    case DataType::kInt64:
      return AppendInteger<int64_t>(type, number, bytes);
    case DataType::kFp64:
      Append(value, bytes);
      return {};
    case DataType::kFp32:
    case DataType::kFp16:
    case DataType::kBf16:
      break;
    default:
      return Status::InvalidArgument("a tensor of " + std::string(tensor::DataTypeName(type)) +
                                     " has no numbers");
  }
  const auto narrow = base::Narrow<float>(value);
  if (!narrow) return DoesNotFit(type, number);
  if (type == DataType::kFp32) {
    Append(*narrow, bytes);
    return {};
  }
  const bool is_half = type == DataType::kFp16;
  const uint16_t cell = is_half ? HalfFromFloat(*narrow) : BfloatFromFloat(*narrow);
  const uint16_t infinity = is_half ? 0x7c00u : 0x7f80u;
  if ((cell & 0x7fffu) == infinity && std::isfinite(value)) return DoesNotFit(type, number);
  Append(cell, bytes);
  return {};
}

Number ReadCell(DataType type, const char* cell) {
  switch (type) {
    case DataType::kBool:
      return FromUnsigned(*cell != 0 ? 1 : 0);
    case DataType::kUint8:
      return FromUnsigned(Load<uint8_t>(cell));
    case DataType::kUint16:
      return FromUnsigned(Load<uint16_t>(cell));
    case DataType::kUint32:
      return FromUnsigned(Load<uint32_t>(cell));
    case DataType::kUint64:
      return FromUnsigned(Load<uint64_t>(cell));
    case DataType::kInt8:
      return FromSigned(Load<int8_t>(cell));
    case DataType::kInt16:
      return FromSigned(Load<int16_t>(cell));
    case DataType::kInt32:
      return FromSigned(Load<int32_t>(cell));
    case DataType::kInt64:
      return FromSigned(Load<int64_t>(cell));
    case DataType::kFp16:
      return FromDouble(FloatFromHalf(Load<uint16_t>(cell)));
    case DataType::kBf16:
      return FromDouble(FloatFromBfloat(Load<uint16_t>(cell)));
    case DataType::kFp32:
      return FromDouble(Load<float>(cell));
    case DataType::kFp64:
      return FromDouble(Load<double>(cell));
    default:
      return {};
  }
}

std::string CellText(DataType type, const char* cell) {
  switch (type) {
    case DataType::kBool:
      return *cell != 0 ? "true" : "false";
    case DataType::kFp16:
      return FloatText(FloatFromHalf(Load<uint16_t>(cell)));
    case DataType::kBf16:
      return FloatText(FloatFromBfloat(Load<uint16_t>(cell)));
    case DataType::kFp32:
      return FloatText(Load<float>(cell));
    case DataType::kFp64:
      return FloatText(Load<double>(cell));
    default:
      return NumberText(ReadCell(type, cell));
  }
}

}  // namespace nereid::app::tools
