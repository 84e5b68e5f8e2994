// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "tensor/data_type.h"
#include "tensor/shape.h"

namespace nereid::tensor {

/// An output as the classification extension gives it: a BYTES tensor, [batch, classes] or
/// [classes], each element "value:index", or "value:index:label" where the class has a label.
struct Classes {
  Shape shape;
  std::string bytes;  // the serialised elements, see ForEachBytesElement
};

/// The most elements that Classify makes.
inline constexpr int64_t kMaxClassElements = 1'000'000;

/// The `count` largest elements (all, if there are fewer) of a tensor in host memory, largest
/// first; of each batch item, where the first dimension is the batch. Equal elements come in the
/// order of their indices, NaN comes last. Floating-point values are written with six decimals.
///
/// INVALID_ARGUMENT for types that have no order on the wire (BOOL, FP16, BF16, BYTES) and for
/// more than kMaxClassElements; INTERNAL when `data` does not fit the shape.
base::Result<Classes> Classify(DataType type, std::span<const int64_t> shape,
                               std::span<const char> data, bool batched, uint64_t count,
                               std::span<const std::string> labels);

}  // namespace nereid::tensor
