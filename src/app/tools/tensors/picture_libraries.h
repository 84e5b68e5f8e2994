// SPDX-License-Identifier: Apache-2.0
// The decoders of libraries, which are opened when they are needed, so that nothing links them.
#pragma once

#include <string_view>

#include "app/tools/tensors/picture.h"
#include "base/result.h"

namespace nereid::app::tools {

/// Decode a whole file to three channels; transparent parts are put on white, and
/// pictures of a camera that was not held upright are rotated. Errors are those of
/// DecodePicture.
base::Result<Picture> DecodePng(std::string_view file);
base::Result<Picture> DecodeJpeg(std::string_view file);

}  // namespace nereid::app::tools
