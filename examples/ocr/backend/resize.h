// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "image.h"

namespace nereid::ocr {

/// Scales the image to rows x columns, each direction separately: by linear interpolation or, if a
/// side shrinks to half or less, by the mean of the pixels that become one. The image and the
/// result must have at least one pixel.
void Resize(const Image& image, size_t rows, size_t columns, const Planes& out);

}  // namespace nereid::ocr
