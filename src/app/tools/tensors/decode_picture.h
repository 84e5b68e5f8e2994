// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "app/tools/tensors/picture.h"
#include "base/result.h"

namespace nereid::app::tools {

/// Returns whether the bytes begin as a picture that DecodePicture knows.
bool IsPicture(std::string_view file);

/// Decodes a picture file: PPM and PGM (binary, 8 bits), PNG with libpng16.so.16, JPEG with
/// libturbojpeg.so.0. The libraries are opened when they are needed. The picture has three
/// channels, or one if it is a PGM. INVALID_ARGUMENT for another or a broken file, UNAVAILABLE with
/// the name of the Debian package if a library is not installed.
base::Result<Picture> DecodePicture(std::string_view file);

}  // namespace nereid::app::tools
