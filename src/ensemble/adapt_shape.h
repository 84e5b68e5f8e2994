// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "tensor/shape.h"

namespace nereid::ensemble {

/// A tensor's shape on its way between two models, as clients of each would write it, where one may
/// have a batch dimension and the other none. `dims` and `to_batching`: what the receiver expects,
/// without its batch dimension, and whether it has one.
///
///   both or neither batch         unchanged
///   from [4] to a batching [4]    [1,4]
///   from [2,4] to [-1,4]          unchanged: it fits as it is
///   from [1,4] to [4]             [4]
///
/// What fits in none of these ways stays as it is, for the receiver to refuse.
tensor::Shape AdaptShape(const tensor::Shape& shape, bool from_batching,
                         std::span<const int64_t> dims, bool to_batching);

/// What a model's tensor may look like to its clients: `dims`, behind a batch of any size where the
/// model batches.
tensor::Shape ShapePattern(std::span<const int64_t> dims, bool batching);

}  // namespace nereid::ensemble
