// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "tensor/data_type.h"
#include "tensor/shape.h"

namespace nereid::tensor {

/// An output in the form of the classification extension: a BYTES tensor of shape [batch, classes]
/// or [classes]. Each element is "value:index", or "value:index:label" if the class has a label.
struct Classes {
  Shape shape;
  std::string bytes;  // the serialized elements, see ForEachBytesElement
};

/// The maximum number of elements in a result of Classify.
inline constexpr int64_t kMaxClassElements = 1'000'000;

/// Returns the `count` largest elements of a tensor (all if there are fewer), largest first. If
/// `batched`, the first dimension is the batch and each batch item is classified separately. Equal
/// elements are ordered by index; NaN comes last. Floating-point values are written with six
/// decimals. `data` is in host memory; `labels` are indexed by class and may be fewer than the
/// classes.
///
/// INVALID_ARG for types that cannot be classified (BOOL, FP16, BF16, BYTES) and for more than
/// kMaxClassElements elements; INTERNAL if `data` does not fit the shape.
base::Result<Classes> Classify(DataType type, std::span<const int64_t> shape,
                               std::span<const char> data, bool batched, uint64_t count,
                               std::span<const std::string> labels);

}  // namespace nereid::tensor
