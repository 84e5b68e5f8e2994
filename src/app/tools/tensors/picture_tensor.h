// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "app/tools/tensors/picture.h"
#include "app/tools/tensors/tensor.h"
#include "base/result.h"

namespace nereid::app::tools {

/// How samples of 0 to 255 become numbers.
enum class PictureScale {
  kUnit,       // 0 … 1
  kRaw,        // 0 … 255
  kInception,  // -1 … 1
  kImagenet,   // ((0 … 1) - mean) / deviation of each channel over ImageNet
};

/// Parses "unit", "raw", "inception" or "imagenet".
base::Result<PictureScale> ParsePictureScale(std::string_view text);

/// Makes the tensor of a picture for an input whose last three dimensions are [C,H,W] or [H,W,C],
/// or whose last two are [H,W] of a gray picture; C is 1 or 3. The picture is scaled to H and W
/// where these are not variable. Integer types get the samples themselves. INVALID_ARGUMENT if the
/// input has another shape.
base::Result<Tensor> PictureTensor(const TensorSpec& spec, Picture picture, PictureScale scale);

}  // namespace nereid::app::tools
