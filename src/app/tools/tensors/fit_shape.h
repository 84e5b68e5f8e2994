// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/tools/tensors/tensor.h"
#include "base/result.h"

namespace nereid::app::tools {

/// Gives `tensor` the shape in which the model takes it. `has_shape` says whether tensor.shape is
/// what the user's values have (nested lists, .npy); otherwise only the number of elements counts.
///
/// A shape that fits is kept. A shape that lacks dimensions in front, as a single item of a batch
/// does, gets ones there. Otherwise the variable dimensions become 1, but the last of them, which
/// follows from the number of elements. INVALID_ARGUMENT with both shapes if nothing fits.
base::Status FitShape(const TensorSpec& spec, bool has_shape, Tensor* tensor);

/// Returns the number of elements of a tensor; its bytes must be consistent.
int64_t CountElements(const Tensor& tensor);

/// Parses a shape "1,3,224,224"; "" is []. INVALID_ARGUMENT for anything else and for more than
/// 2^40 elements.
base::Result<tensor::Shape> ParseShapeText(std::string_view text);

}  // namespace nereid::app::tools
