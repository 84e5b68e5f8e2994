// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "tensor/shape.h"

namespace nereid::ensemble {

/// Returns `shape`, as clients of the sending model see it, in the form that clients of the
/// receiving model write, where one of the models may have a batch dimension and the other none.
/// `from_batching` and `to_batching` say which model batches. `dims` is what the receiver expects,
/// without its batch dimension.
///
///   both or neither batch         unchanged
///   from [4] to a batching [4]    [1,4]
///   from [2,4] to [-1,4]          unchanged: it fits as it is
///   from [1,4] to [4]             [4]
///
/// A shape that fits in none of these ways is returned unchanged, and the receiver refuses it.
tensor::Shape AdaptShape(const tensor::Shape& shape, bool from_batching,
                         std::span<const int64_t> dims, bool to_batching);

/// Returns the pattern of a model's tensor as its clients see it: `dims`, with a batch dimension of
/// any size in front if the model batches.
tensor::Shape ShapePattern(std::span<const int64_t> dims, bool batching);

}  // namespace nereid::ensemble
