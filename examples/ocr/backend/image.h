// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace nereid::ocr {

/// Up to here a float counts pixels one by one.
inline constexpr int64_t kLongestSide = int64_t{1} << 24;

/// An image of rows x columns pixels of three bytes (red, green, blue), row by row. It has at least
/// one pixel, no side is longer than kLongestSide, and it does not own its pixels.
struct Image {
  const uint8_t* pixels = nullptr;
  size_t rows = 0;
  size_t columns = 0;

  const uint8_t* At(size_t row, size_t column) const {
    return pixels + (row * columns + column) * 3;
  }
};

/// Where pixels go: three planes (blue, green, red) of floats from -1 to 1, which is what both
/// models were trained on. Each row begins `row_stride` floats after the last, each plane
/// `plane_stride`.
struct Planes {
  float* first = nullptr;
  size_t row_stride = 0;
  size_t plane_stride = 0;
};

}  // namespace nereid::ocr
