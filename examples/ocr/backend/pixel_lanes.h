// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstring>

#include "image.h"

// Pixels as vectors, in the form that GCC and Clang provide for every processor.

namespace nereid::ocr {

using Short4 = uint16_t __attribute__((vector_size(8)));
using Int4 = int32_t __attribute__((vector_size(16)));
using Float4 = float __attribute__((vector_size(16)));

/// Returns red, green, blue of one pixel; the fourth number has no meaning.
inline Float4 ToFloats(Short4 pixel) {
  return __builtin_convertvector(__builtin_convertvector(pixel, Int4), Float4);
}

/// Reads four numbers, of which three are a pixel.
inline Float4 LoadPixel(const uint16_t* pixel) {
  Short4 lanes;
  std::memcpy(&lanes, pixel, sizeof(lanes));
  return ToFloats(lanes);
}

/// Writes one row of a picture, four pixels at a time.
class RowWriter {
 public:
  static constexpr size_t kPixels = 4;

  /// The values are multiplied by `scale`, and one is subtracted.
  RowWriter(const Planes& out, size_t row, float scale)
      : target_(out.first + row * out.row_stride),
        plane_stride_(out.plane_stride),
        scale_{scale, scale, scale, scale} {}

  /// Writes the first `count` of four pixels.
  void Write(const std::array<Float4, kPixels>& pixels, size_t count) {
    // Four times red, green, blue become four reds, four greens and four blues.
    const Float4 low01 = __builtin_shufflevector(pixels[0], pixels[1], 0, 4, 1, 5);
    const Float4 low23 = __builtin_shufflevector(pixels[2], pixels[3], 0, 4, 1, 5);
    const Float4 high01 = __builtin_shufflevector(pixels[0], pixels[1], 2, 6, 3, 7);
    const Float4 high23 = __builtin_shufflevector(pixels[2], pixels[3], 2, 6, 3, 7);
    WritePlane(0, __builtin_shufflevector(high01, high23, 0, 1, 4, 5), count);
    WritePlane(1, __builtin_shufflevector(low01, low23, 2, 3, 6, 7), count);
    WritePlane(2, __builtin_shufflevector(low01, low23, 0, 1, 4, 5), count);
    target_ += count;
  }

 private:
  void WritePlane(size_t plane, Float4 values, size_t count) {
    values = values * scale_ - 1;
    std::memcpy(target_ + plane * plane_stride_, &values, count * sizeof(float));
  }

  float* target_;
  size_t plane_stride_;
  Float4 scale_;
};

}  // namespace nereid::ocr
