// SPDX-License-Identifier: Apache-2.0
#include "warp.h"

#include <algorithm>
#include <cmath>

#include "pixel_lanes.h"

namespace nereid::ocr {
namespace {

using Byte8 = uint8_t __attribute__((vector_size(8)));
using Short8 = uint16_t __attribute__((vector_size(16)));

// The weights of rows are integers with this sum, so that a sum fits into 16 bits.
constexpr float kWhole = 256;

// Loads two adjacent pixels and two more bytes.
Short8 LoadPair(const uint8_t* pixel) {
  Byte8 bytes;
  std::memcpy(&bytes, pixel, sizeof(bytes));
  return __builtin_convertvector(bytes, Short8);
}

// Does the same at the end of an image, where no memory follows the last pixel.
Short8 LoadLastPair(const uint8_t* left, const uint8_t* right) {
  return Short8{left[0], left[1], left[2], right[0], right[1], right[2], 0, 0};
}

// Reads an image between its pixels; the center of the first pixel is at (0, 0).
class Interpolation {
 public:
  explicit Interpolation(const Image& image)
      : image_(image),
        last_x_(static_cast<float>(image.columns - 1)),
        last_y_(static_cast<float>(image.rows - 1)) {}

  // Returns the pixel at (x, y), times kWhole.
  Float4 At(float x, float y) const {
    x = Clamp(x, last_x_);
    y = Clamp(y, last_y_);
    // Signed, because processors convert such integers to floats and back in one instruction.
    const auto left = static_cast<int32_t>(x);
    const auto top = static_cast<int32_t>(y);
    const auto below = static_cast<uint16_t>((y - static_cast<float>(top)) * kWhole);
    const auto above = static_cast<uint16_t>(static_cast<uint16_t>(kWhole) - below);
    const Pairs pairs = Load(static_cast<size_t>(left), static_cast<size_t>(top));
    const Short8 both = pairs.upper * above + pairs.lower * below;
    const Float4 a = ToFloats(__builtin_shufflevector(both, both, 0, 1, 2, 3));
    const Short8 second = __builtin_shufflevector(both, Short8{}, 3, 4, 5, 6, 7, 8, 9, 10);
    const Float4 b = ToFloats(__builtin_shufflevector(second, second, 0, 1, 2, 3));
    return a + (b - a) * (x - static_cast<float>(left));
  }

 private:
  struct Pairs {
    Short8 upper;
    Short8 lower;
  };

  Pairs Load(size_t left, size_t top) const {
    const size_t next_row = image_.columns * 3;
    const uint8_t* first = image_.pixels + top * next_row + left * 3;
    // Eight bytes are two pixels and most of a third one.
    if (left + 2 < image_.columns && top + 1 < image_.rows) [[likely]] {
      return {LoadPair(first), LoadPair(first + next_row)};
    }
    const size_t right = left + 1 < image_.columns ? 3 : 0;
    const uint8_t* second = top + 1 < image_.rows ? first + next_row : first;
    return {LoadLastPair(first, first + right), LoadLastPair(second, second + right)};
  }

  // The form of the comparison makes a NaN 0.
  static float Clamp(float value, float last) {
    value = value > 0.0F ? value : 0.0F;
    return value < last ? value : last;
  }

  Image image_;
  float last_x_;
  float last_y_;
};

Point PartOf(Point side, size_t parts) {
  return {side.x / static_cast<float>(parts), side.y / static_cast<float>(parts)};
}

// Returns the means of two by two pixels. A last odd row or column is dropped unless it is the only
// one.
Image Halve(const Image& image, std::vector<uint8_t>* pixels) {
  const size_t rows = std::max<size_t>(1, image.rows / 2);
  const size_t columns = std::max<size_t>(1, image.columns / 2);
  pixels->resize(rows * columns * 3);
  const size_t size = image.columns * 3;
  const size_t right = image.columns > 1 ? 3 : 0;
  std::vector<uint16_t> sums(size);
  uint8_t* target = pixels->data();
  for (size_t row = 0; row < rows; ++row) {
    const uint8_t* upper = image.At(row * 2, 0);
    const uint8_t* lower = image.rows > 1 ? upper + size : upper;
    for (size_t i = 0; i < size; ++i) {
      sums[i] = static_cast<uint16_t>(upper[i] + lower[i]);
    }
    const uint16_t* pair = sums.data();
    for (size_t column = 0; column < columns; ++column, pair += 6, target += 3) {
      for (size_t k = 0; k < 3; ++k) {
        target[k] = static_cast<uint8_t>((pair[k] + pair[k + right] + 2U) / 4);
      }
    }
  }
  return {pixels->data(), rows, columns};
}

// Returns how often an image is halved before a step of `step` pixels is less than two.
size_t Halvings(float step) {
  size_t count = 0;
  for (; step >= 2 && count < 16; step /= 2) {
    ++count;
  }
  return count;
}

Point Scaled(Point point, float factor) { return {point.x * factor, point.y * factor}; }

}  // namespace

void Warp(const Image& image, const Frame& frame, size_t rows, size_t columns, const Planes& out) {
  const Interpolation interpolation(image);
  const Point across = PartOf(frame.across, columns);
  const Point down = PartOf(frame.down, rows);
  for (size_t row = 0; row < rows; ++row) {
    RowWriter writer(out, row, 2 / (255 * kWhole));
    const float v = static_cast<float>(row) + 0.5F;
    const float x = frame.origin.x + down.x * v - 0.5F;
    const float y = frame.origin.y + down.y * v - 0.5F;
    for (size_t column = 0; column < columns; column += RowWriter::kPixels) {
      const size_t count = std::min(RowWriter::kPixels, columns - column);
      std::array<Float4, RowWriter::kPixels> pixels{};
      for (size_t i = 0; i < count; ++i) {
        const float u = static_cast<float>(column + i) + 0.5F;
        pixels[i] = interpolation.At(x + across.x * u, y + across.y * u);
      }
      writer.Write(pixels, count);
    }
  }
}

const Image& Pyramid::Level(size_t level) {
  while (levels_.size() <= level) {
    levels_.push_back(Halve(levels_.back(), &halves_.emplace_back()));
  }
  return levels_[level];
}

void Pyramid::Warp(const Frame& frame, size_t rows, size_t columns, const Planes& out) {
  const Point across = PartOf(frame.across, columns);
  const Point down = PartOf(frame.down, rows);
  // The smaller of both steps, so that no direction becomes blurred.
  const float step = std::min(std::hypot(across.x, across.y), std::hypot(down.x, down.y));
  const size_t halvings = Halvings(step);
  const float smaller = std::ldexp(1.0F, -static_cast<int>(halvings));
  ocr::Warp(
      Level(halvings),
      {Scaled(frame.origin, smaller), Scaled(frame.across, smaller), Scaled(frame.down, smaller)},
      rows, columns, out);
}

}  // namespace nereid::ocr
