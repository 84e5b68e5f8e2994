// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "text_boxes.h"

namespace nereid::ocr {

/// A map of probabilities for tests. Mark fills the pixels of a rectangle that is rotated about its
/// center.
struct MarkedMap {
  size_t rows = 0;
  size_t columns = 0;
  std::vector<float> values = std::vector<float>(rows * columns, 0.0F);

  void Mark(Point middle, float width, float height, float degrees, float probability) {
    const float angle = degrees * static_cast<float>(M_PI) / 180;
    for (size_t y = 0; y < rows; ++y) {
      for (size_t x = 0; x < columns; ++x) {
        const float dx = static_cast<float>(x) + 0.5F - middle.x;
        const float dy = static_cast<float>(y) + 0.5F - middle.y;
        const float u = dx * std::cos(angle) + dy * std::sin(angle);
        const float v = dy * std::cos(angle) - dx * std::sin(angle);
        if (std::abs(u) <= width / 2 && std::abs(v) <= height / 2) {
          values[y * columns + x] = probability;
        }
      }
    }
  }
  std::vector<TextBox> Boxes(const BoxRules& rules = {}) const {
    return FindTextBoxes(values.data(), rows, columns, rules);
  }
};

}  // namespace nereid::ocr
