// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace nereid::ocr {

/// Up to this number a float counts pixels exactly.
inline constexpr int64_t kLongestSide = int64_t{1} << 24;

/// An image of rows x columns pixels of three bytes (red, green, blue), row by row. It has at least
/// one pixel, and no side is longer than kLongestSide. Does not own its pixels.
struct Image {
  const uint8_t* pixels = nullptr;
  size_t rows = 0;
  size_t columns = 0;

  const uint8_t* At(size_t row, size_t column) const {
    return pixels + (row * columns + column) * 3;
  }
};

/// The destination of pixels: three planes (blue, green, red) of floats from -1 to 1, the form on
/// which both models were trained. A row begins `row_stride` floats after the previous one, a plane
/// `plane_stride` floats.
struct Planes {
  float* first = nullptr;
  size_t row_stride = 0;
  size_t plane_stride = 0;
};

}  // namespace nereid::ocr
