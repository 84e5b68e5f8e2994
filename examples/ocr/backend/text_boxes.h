// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace nereid::ocr {

struct Point {
  float x = 0;
  float y = 0;
};

/// A line of text: the corners of a rectangle in reading order (top left, top right, bottom right,
/// bottom left). The line may be slanted by up to 45 degrees.
struct TextBox {
  std::array<Point, 4> corners;
  /// The mean probability of the pixels of the box.
  float score = 0;
};

/// The rules by which marked pixels become boxes.
struct BoxRules {
  /// A pixel with a higher probability belongs to text.
  float mark = 0.3F;
  /// Boxes with a lower mean probability are dropped.
  float sure = 0.5F;
  /// In pixels; boxes with a shorter side are specks.
  float smallest = 4;
  /// The marks are smaller than the text: each side moves outwards by this fraction of the box's
  /// area divided by its outline.
  float unclip = 2.0F;
};

/// Returns the lines of text in a map of probabilities (rows x columns, row by row), in pixels of
/// the map, in reading order: from top to bottom, then from left to right.
std::vector<TextBox> FindTextBoxes(const float* probabilities, size_t rows, size_t columns,
                                   const BoxRules& rules);

}  // namespace nereid::ocr
