// SPDX-License-Identifier: Apache-2.0
#include "tracing/tensor_text.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>

#include "tracing/quoted_text.h"

namespace nereid::tracing {
namespace {

using request::TracedTensor;
using tensor::DataType;

template <typename Number>
void AppendNumber(Number value, std::string* text) {
  char digits[64];
  text->append(digits, std::to_chars(digits, digits + sizeof(digits), value).ptr);
}

float FromBfloat16(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }

float FromHalf(uint16_t bits) {
  const uint32_t sign = (bits & 0x8000U) << 16;
  const uint32_t exponent = (bits >> 10) & 0x1FU;
  const uint32_t fraction = bits & 0x3FFU;
  if (exponent == 0) {
    // Zero or a subnormal: fraction × 2^-24.
    const float value = static_cast<float>(fraction) / 16'777'216.0F;
    return sign == 0 ? value : -value;
  }
  const uint32_t wide = exponent == 31 ? 255 : exponent + 112;
  return std::bit_cast<float>(sign | (wide << 23) | (fraction << 13));
}

template <typename Stored, typename Show>
std::string Elements(const TracedTensor& tensor, Show show) {
  const size_t count = tensor.size / sizeof(Stored);
  const size_t shown = std::min(count, kMaxElementsShown);
  std::string text;
  for (size_t i = 0; i < shown; ++i) {
    Stored value;
    std::memcpy(&value, tensor.data + i * sizeof(Stored), sizeof(Stored));
    if (i != 0) text += ',';
    AppendNumber(show(value), &text);
  }
  return shown < count ? text + ",..." : text;
}

template <typename Number>
std::string Numbers(const TracedTensor& tensor) {
  return Elements<Number>(tensor, [](Number value) { return value; });
}

// Each element is preceded by its length. The bytes come from plug-ins and may be cut off anywhere.
std::string Strings(const TracedTensor& tensor) {
  std::string text;
  size_t at = 0;
  size_t shown = 0;
  for (uint32_t length = 0; tensor.size - at >= sizeof(length); at += length, ++shown) {
    std::memcpy(&length, tensor.data + at, sizeof(length));
    at += sizeof(length);
    if (length > tensor.size - at) break;
    if (shown != 0) text += ',';
    if (shown == kMaxElementsShown) return text + "...";
    text += QuotedText({tensor.data + at, length});
  }
  return text;
}

}  // namespace

std::string TensorText(const TracedTensor& tensor) {
  if (tensor.memory_type == memory::MemoryType::kGpu || tensor.data == nullptr) return {};
  switch (tensor.type) {
    case DataType::kBool:
      return Elements<uint8_t>(tensor, [](uint8_t value) { return value != 0 ? 1 : 0; });
    case DataType::kUint8:
      return Elements<uint8_t>(tensor, [](uint8_t value) { return unsigned{value}; });
    case DataType::kInt8:
      return Elements<int8_t>(tensor, [](int8_t value) { return int{value}; });
    case DataType::kUint16:
      return Numbers<uint16_t>(tensor);
    case DataType::kInt16:
      return Numbers<int16_t>(tensor);
    case DataType::kUint32:
      return Numbers<uint32_t>(tensor);
    case DataType::kInt32:
      return Numbers<int32_t>(tensor);
    case DataType::kUint64:
      return Numbers<uint64_t>(tensor);
    case DataType::kInt64:
      return Numbers<int64_t>(tensor);
    case DataType::kFp16:
      return Elements<uint16_t>(tensor, FromHalf);
    case DataType::kBf16:
      return Elements<uint16_t>(tensor, FromBfloat16);
    case DataType::kFp32:
      return Numbers<float>(tensor);
    case DataType::kFp64:
      return Numbers<double>(tensor);
    case DataType::kBytes:
      return Strings(tensor);
    case DataType::kInvalid:
      break;
  }
  return {};
}

std::string DimensionsText(const tensor::Shape& shape) {
  std::string text;
  for (const int64_t dim : shape) {
    if (!text.empty()) text += ',';
    text += std::to_string(dim);
  }
  return text;
}

}  // namespace nereid::tracing
