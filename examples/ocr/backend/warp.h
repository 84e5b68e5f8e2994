// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "text_boxes.h"

namespace nereid::ocr {

/// An image of rows x columns pixels of three bytes (red, green, blue), row by row.
struct Image {
  const uint8_t* pixels = nullptr;
  size_t rows = 0;
  size_t columns = 0;
};

/// A parallelogram of an image: its top left corner and the sides that begin there, in pixels.
struct Frame {
  Point origin;
  Point across;
  Point down;
};

/// Where the pixels go: three planes (blue, green, red) of floats from -1 to 1, which is what both
/// models were trained on. Each row begins `row_stride` floats after the last, each plane
/// `plane_stride`.
struct Planes {
  float* first = nullptr;
  size_t row_stride = 0;
  size_t plane_stride = 0;
};

/// Scales what the frame holds to rows x columns, by linear interpolation; where it shrinks to half
/// or less, by the mean of several pixels. Outside of the image its border goes on.
void Warp(const Image& image, const Frame& frame, size_t rows, size_t columns, const Planes& out);

}  // namespace nereid::ocr
