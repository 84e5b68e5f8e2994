// SPDX-License-Identifier: Apache-2.0
#include "resize.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "pixel_lanes.h"

namespace nereid::ocr {
namespace {

// The weights of rows are integers with this sum, so that the sum of a row fits into 16 bits.
constexpr unsigned kWhole = 256;
// If more pixels than this become one, this many evenly spaced ones are used.
constexpr size_t kMaxPixels = 64;

// The sources of one row or column of the result: `count` rows or columns, beginning at `first`,
// `stride` apart. `weight` is the weight of each of them. With linear interpolation there are two
// (one at a border), and `weight` is that of the second.
struct Taps {
  size_t first = 0;
  size_t count = 1;
  size_t stride = 1;
  float weight = 0;
};

// The sources in one direction, from `source` to `wanted` pixels.
class Sampling {
 public:
  Sampling(size_t source, size_t wanted) : averages_(source / wanted >= 2), taps_(wanted) {
    const double step = static_cast<double>(source) / static_cast<double>(wanted);
    for (size_t i = 0; i < wanted; ++i) {
      taps_[i] = averages_ ? Average(source, step, i) : Linear(source, step, i);
    }
  }

  // Returns whether all taps have the same weight; otherwise there are two with different weights.
  bool averages() const { return averages_; }
  const Taps& operator[](size_t i) const { return taps_[i]; }

 private:
  static Taps Average(size_t source, double step, size_t i) {
    const auto first = static_cast<size_t>(step * static_cast<double>(i));
    const auto end = std::min(source, static_cast<size_t>(step * static_cast<double>(i + 1)));
    const size_t all = end - first;
    const size_t stride = (all + kMaxPixels - 1) / kMaxPixels;
    const size_t count = all / stride;
    return {first, count, stride, 1 / static_cast<float>(count)};
  }

  // Interpolates between the centers of pixels. Beyond the outer centers the value is constant.
  static Taps Linear(size_t source, double step, size_t i) {
    const double at = std::clamp((static_cast<double>(i) + 0.5) * step - 0.5, 0.0,
                                 static_cast<double>(source - 1));
    const size_t first = std::min(static_cast<size_t>(at), source < 2 ? 0 : source - 2);
    return {first, source < 2 ? 1U : 2U, 1, static_cast<float>(at - static_cast<double>(first))};
  }

  bool averages_;
  std::vector<Taps> taps_;
};

// Computes one row of the result before its columns are scaled: sums of the source's rows. Returns
// the sum of the weights.
float SumRows(const Image& image, const Taps& taps, bool averages, uint16_t* sums) {
  const size_t size = image.columns * 3;
  if (averages) {
    std::fill_n(sums, size, uint16_t{0});
    for (size_t k = 0; k < taps.count; ++k) {
      const uint8_t* row = image.At(taps.first + k * taps.stride, 0);
      for (size_t i = 0; i < size; ++i) {
        sums[i] = static_cast<uint16_t>(sums[i] + row[i]);
      }
    }
    return static_cast<float>(taps.count);
  }
  const auto below = static_cast<uint16_t>(std::lround(taps.weight * kWhole));
  const auto above = static_cast<uint16_t>(kWhole - below);
  const uint8_t* a = image.At(taps.first, 0);
  const uint8_t* b = image.At(taps.first + taps.count - 1, 0);
  for (size_t i = 0; i < size; ++i) {
    sums[i] = static_cast<uint16_t>(a[i] * above + b[i] * below);
  }
  return kWhole;
}

Float4 Interpolated(const uint16_t* sums, const Taps& taps) {
  const uint16_t* left = sums + taps.first * 3;
  const Float4 a = LoadPixel(left);
  const Float4 b = LoadPixel(left + 3 * (taps.count - 1));
  return a + (b - a) * taps.weight;
}

Float4 Averaged(const uint16_t* sums, const Taps& taps) {
  const uint16_t* pixel = sums + taps.first * 3;
  Float4 sum = LoadPixel(pixel);
  for (size_t k = 1; k < taps.count; ++k) {
    sum += LoadPixel(pixel + 3 * k * taps.stride);
  }
  return sum * taps.weight;
}

template <Float4 (*Pixel)(const uint16_t*, const Taps&)>
void WriteRow(const uint16_t* sums, const Sampling& across, size_t columns, RowWriter writer) {
  for (size_t column = 0; column < columns; column += RowWriter::kPixels) {
    const size_t count = std::min(RowWriter::kPixels, columns - column);
    std::array<Float4, RowWriter::kPixels> pixels{};
    for (size_t i = 0; i < count; ++i) {
      pixels[i] = Pixel(sums, across[column + i]);
    }
    writer.Write(pixels, count);
  }
}

}  // namespace

void Resize(const Image& image, size_t rows, size_t columns, const Planes& out) {
  const Sampling down(image.rows, rows);
  const Sampling across(image.columns, columns);
  // One number more than three for each pixel, because LoadPixel reads four.
  std::vector<uint16_t> sums(image.columns * 3 + 1);
  for (size_t row = 0; row < rows; ++row) {
    const float whole = SumRows(image, down[row], down.averages(), sums.data());
    const RowWriter writer(out, row, 2 / (255 * whole));
    if (across.averages()) {
      WriteRow<Averaged>(sums.data(), across, columns, writer);
    } else {
      WriteRow<Interpolated>(sums.data(), across, columns, writer);
    }
  }
}

}  // namespace nereid::ocr
