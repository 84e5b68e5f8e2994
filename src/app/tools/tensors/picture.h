// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace nereid::app::tools {

/// A picture of 8-bit samples: rows from the top, pixels from the left, channels interleaved.
struct Picture {
  int64_t width = 0;
  int64_t height = 0;
  int64_t channels = 3;  // 3: red, green, blue; 1: gray
  std::string samples;
};

/// The largest picture that is decoded: 2^26 pixels.
inline constexpr int64_t kMaxPixels = int64_t{1} << 26;

/// Returns the picture scaled to a size, with bilinear interpolation. Where it becomes smaller,
/// each sample is the mean of those that it replaces, weighted by their distance.
Picture Resized(const Picture& picture, int64_t width, int64_t height);

/// Returns the picture with one channel (luminance of ITU-R BT.601) or three equal ones.
Picture WithChannels(Picture picture, int64_t channels);

/// Returns the picture as it was seen, from the samples of a camera that was held in another way.
/// `orientation` is that of Exif (ExifOrientation); 1 and values out of range change nothing.
Picture Upright(Picture picture, int orientation);

}  // namespace nereid::app::tools
