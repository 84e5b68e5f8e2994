// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace nereid::app::tools {

/// Returns how a camera was held when it took a JPEG picture: the value 1 to 8 of the field
/// Orientation of Exif (EXIF 2.3, 4.6.4). 1 is upright. Returns 1 if the file does not say it, or
/// is damaged.
int ExifOrientation(std::string_view jpeg);

}  // namespace nereid::app::tools
