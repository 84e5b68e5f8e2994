// SPDX-License-Identifier: Apache-2.0
#include "ensemble/adapt_shape.h"

namespace nereid::ensemble {

tensor::Shape AdaptShape(const tensor::Shape& shape, bool from_batching,
                         std::span<const int64_t> dims, bool to_batching) {
  if (from_batching == to_batching) return shape;
  const bool fits = tensor::ShapeMatches(dims, shape);
  if (to_batching) {
    if (!fits) return shape;
    tensor::Shape batched = shape;
    batched.insert(batched.begin(), 1);
    return batched;
  }
  if (fits || shape.empty() || shape[0] != 1) return shape;
  return tensor::Shape(shape.begin() + 1, shape.end());
}

tensor::Shape ShapePattern(std::span<const int64_t> dims, bool batching) {
  tensor::Shape pattern(dims.begin(), dims.end());
  if (batching) pattern.insert(pattern.begin(), tensor::kVariableDim);
  return pattern;
}

}  // namespace nereid::ensemble
