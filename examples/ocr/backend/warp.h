// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "image.h"
#include "text_boxes.h"

namespace nereid::ocr {

/// A parallelogram in an image: its top left corner and the sides that begin there, in pixels.
struct Frame {
  Point origin;
  Point across;
  Point down;
};

/// Scales the content of the frame to rows x columns by linear interpolation. Outside of the image
/// its border is repeated; a corner that is NaN counts as far outside. A frame that shrinks to half
/// or less loses pixels: see Pyramid.
void Warp(const Image& image, const Frame& frame, size_t rows, size_t columns, const Planes& out);

/// An image together with its reductions: half as many rows and columns, a quarter, and so on, each
/// computed when it is first needed. A part of the image that is scaled down much is cut out of one
/// of them, so that every pixel contributes and none is read more than once.
class Pyramid {
 public:
  explicit Pyramid(const Image& image) : levels_{image} {}

  /// Calls Warp on the level at which the frame shrinks to more than a half.
  void Warp(const Frame& frame, size_t rows, size_t columns, const Planes& out);

 private:
  const Image& Level(size_t level);

  std::vector<Image> levels_;
  std::vector<std::vector<uint8_t>> halves_;  // of levels_, from the second one on
};

}  // namespace nereid::ocr
