// SPDX-License-Identifier: Apache-2.0
#include "warp.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace nereid::ocr {
namespace {

// A frame that is much larger than its picture is read at no more points than this, squared.
constexpr float kMostSamples = 8;

// Adds the interpolated pixel at (x, y) to `sum`; the first pixel's middle is at (0, 0).
void AddPixel(const Image& image, float x, float y, std::array<float, 3>* sum) {
  x = std::clamp(x, 0.0F, static_cast<float>(image.columns - 1));
  y = std::clamp(y, 0.0F, static_cast<float>(image.rows - 1));
  const auto left = static_cast<size_t>(static_cast<int64_t>(x));
  const auto top = static_cast<size_t>(static_cast<int64_t>(y));
  const float across = x - static_cast<float>(left);
  const float down = y - static_cast<float>(top);
  const uint8_t* a = image.pixels + (top * image.columns + left) * 3;
  const uint8_t* b = left + 1 < image.columns ? a + 3 : a;
  const size_t next = top + 1 < image.rows ? image.columns * 3 : 0;
  const uint8_t* c = a + next;
  const uint8_t* d = b + next;
  const float weight_d = across * down;
  const float weight_b = across - weight_d;
  const float weight_c = down - weight_d;
  const float weight_a = 1 - across - weight_c;
  for (size_t k = 0; k < 3; ++k) {
    (*sum)[k] += weight_a * static_cast<float>(a[k]) + weight_b * static_cast<float>(b[k]) +
                 weight_c * static_cast<float>(c[k]) + weight_d * static_cast<float>(d[k]);
  }
}

// The same with the nearest pixel: enough where several points make a mean, at a quarter of the
// cost.
void AddNearest(const Image& image, float x, float y, std::array<float, 3>* sum) {
  x = std::clamp(x + 0.5F, 0.0F, static_cast<float>(image.columns - 1));
  y = std::clamp(y + 0.5F, 0.0F, static_cast<float>(image.rows - 1));
  const auto column = static_cast<size_t>(static_cast<int64_t>(x));
  const auto row = static_cast<size_t>(static_cast<int64_t>(y));
  const uint8_t* pixel = image.pixels + (row * image.columns + column) * 3;
  for (size_t k = 0; k < 3; ++k) {
    (*sum)[k] += static_cast<float>(pixel[k]);
  }
}

Point Step(Point side, size_t parts) {
  return {side.x / static_cast<float>(parts), side.y / static_cast<float>(parts)};
}

int SamplesAlong(Point step) {
  return static_cast<int>(std::clamp(std::floor(std::hypot(step.x, step.y)), 1.0F, kMostSamples));
}

}  // namespace

void Warp(const Image& image, const Frame& frame, size_t rows, size_t columns, const Planes& out) {
  const Point across = Step(frame.across, columns);
  const Point down = Step(frame.down, rows);
  const int samples_across = SamplesAlong(across);
  const int samples_down = SamplesAlong(down);
  const auto add = samples_across * samples_down > 1 ? AddNearest : AddPixel;
  const float scale = 2.0F / (255.0F * static_cast<float>(samples_across * samples_down));
  for (size_t row = 0; row < rows; ++row) {
    float* target = out.first + row * out.row_stride;
    for (size_t column = 0; column < columns; ++column, ++target) {
      std::array<float, 3> sum{};
      for (int i = 0; i < samples_down; ++i) {
        const float v = static_cast<float>(row) +
                        (static_cast<float>(i) + 0.5F) / static_cast<float>(samples_down);
        for (int k = 0; k < samples_across; ++k) {
          const float u = static_cast<float>(column) +
                          (static_cast<float>(k) + 0.5F) / static_cast<float>(samples_across);
          add(image, frame.origin.x + across.x * u + down.x * v - 0.5F,
              frame.origin.y + across.y * u + down.y * v - 0.5F, &sum);
        }
      }
      for (size_t k = 0; k < 3; ++k) {
        target[(2 - k) * out.plane_stride] = sum[k] * scale - 1;
      }
    }
  }
}

}  // namespace nereid::ocr
