// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "triton/core/tritonserver.h"

namespace nereid::backend {

/// Returns the data type with the given name in model configurations, such as "TYPE_FP32" or
/// "TYPE_STRING"; TRITONSERVER_TYPE_INVALID for any other text.
inline TRITONSERVER_DataType DataTypeFromConfig(std::string_view name) {
  constexpr std::string_view kPrefix = "TYPE_";
  if (!name.starts_with(kPrefix)) {
    return TRITONSERVER_TYPE_INVALID;
  }
  const std::string word(name.substr(kPrefix.size()));
  if (word == "STRING") {
    return TRITONSERVER_TYPE_BYTES;
  }
  return word == "BYTES" ? TRITONSERVER_TYPE_INVALID : TRITONSERVER_StringToDataType(word.c_str());
}

/// Returns the name in model configurations; "TYPE_STRING" for TRITONSERVER_TYPE_BYTES.
inline std::string DataTypeToConfig(TRITONSERVER_DataType type) {
  return type == TRITONSERVER_TYPE_BYTES ? "TYPE_STRING"
                                         : std::string("TYPE_") + TRITONSERVER_DataTypeString(type);
}

/// Returns a shape as text, such as "[2,-1]".
inline std::string ShapeText(std::span<const int64_t> shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    text += i == 0 ? "" : ",";
    text += std::to_string(shape[i]);
  }
  return text + "]";
}

/// Returns the number of elements of a tensor with this shape; -1 for a negative dimension or on
/// overflow.
inline int64_t ElementCount(std::span<const int64_t> shape) {
  int64_t count = 1;
  for (const int64_t dim : shape) {
    if (dim < 0 || __builtin_mul_overflow(count, dim, &count)) {
      return -1;
    }
  }
  return count;
}

/// Returns the size in bytes of a tensor whose elements have a fixed size; -1 for BYTES, for a
/// negative dimension or on overflow.
inline int64_t TensorByteSize(TRITONSERVER_DataType type, std::span<const int64_t> shape) {
  const int64_t element = TRITONSERVER_DataTypeByteSize(type);
  int64_t count = ElementCount(shape);
  if (element == 0 || count < 0 || __builtin_mul_overflow(count, element, &count)) {
    return -1;
  }
  return count;
}

}  // namespace nereid::backend
