// SPDX-License-Identifier: Apache-2.0
#include "tensor/shape.h"

#include <algorithm>

#include "base/checked_math.h"

namespace nereid::tensor {

std::optional<int64_t> ElementCount(std::span<const int64_t> shape) {
  int64_t count = 1;
  bool empty = false;
  for (const int64_t dim : shape) {
    if (dim < 0) return std::nullopt;
    // A zero makes the product zero whatever the other dimensions are. A shape such as [2^62, 2^62,
    // 0] is refused all the same, because other code multiplies a part of the dimensions.
    if (dim == 0) {
      empty = true;
      continue;
    }
    const auto product = base::CheckedMultiply(count, dim);
    if (!product) return std::nullopt;
    count = *product;
  }
  return empty ? 0 : count;
}

std::optional<uint64_t> ByteSize(DataType type, std::span<const int64_t> shape) {
  const uint64_t element = DataTypeByteSize(type);
  if (element == 0) return std::nullopt;
  const auto count = ElementCount(shape);
  if (!count) return std::nullopt;
  return base::CheckedMultiply(static_cast<uint64_t>(*count), element);
}

std::optional<uint64_t> ZeroByteSize(DataType type, std::span<const int64_t> shape) {
  return ByteSize(type == DataType::kBytes ? DataType::kUint32 : type, shape);
}

Shape WithoutVariableDims(Shape shape) {
  std::replace(shape.begin(), shape.end(), kVariableDim, int64_t{1});
  return shape;
}

bool ShapeMatches(std::span<const int64_t> pattern, std::span<const int64_t> shape) {
  if (pattern.size() != shape.size()) return false;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] < 0) return false;
    if (pattern[i] != kVariableDim && pattern[i] != shape[i]) return false;
  }
  return true;
}

std::string ShapeText(std::span<const int64_t> shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) text += ',';
    text += std::to_string(shape[i]);
  }
  text += ']';
  return text;
}

}  // namespace nereid::tensor
