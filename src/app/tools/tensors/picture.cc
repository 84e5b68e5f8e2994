// SPDX-License-Identifier: Apache-2.0
#include "app/tools/tensors/picture.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace nereid::app::tools {
namespace {

/// The samples of the source that make one row or column of the result.
struct Blend {
  int64_t first = 0;
  std::vector<float> weights;  // of `first` and those behind it; their sum is 1
};

/// The weights are a triangle around the place of the sample, as wide as two samples of the result,
/// and at least of the source: a plain interpolation would skip most samples of a picture that
/// becomes smaller.
std::vector<Blend> Blends(int64_t from, int64_t to) {
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  const double reach = std::max(scale, 1.0);
  std::vector<Blend> blends(static_cast<size_t>(to));
  for (int64_t i = 0; i < to; ++i) {
    const double center = (static_cast<double>(i) + 0.5) * scale;  // the centers correspond
    Blend& blend = blends[static_cast<size_t>(i)];
    blend.first = std::clamp<int64_t>(std::llround(center - reach), 0, from - 1);
    const int64_t end = std::clamp<int64_t>(std::llround(center + reach), blend.first + 1, from);
    double sum = 0;
    for (int64_t at = blend.first; at < end; ++at) {
      const double distance = std::abs(static_cast<double>(at) + 0.5 - center) / reach;
      const double weight = std::max(1.0 - distance, 0.0);
      blend.weights.push_back(static_cast<float>(weight));
      sum += weight;
    }
    for (float& weight : blend.weights) weight /= static_cast<float>(sum);
  }
  return blends;
}

char Sample(float value) {
  return static_cast<char>(static_cast<unsigned char>(std::lround(std::clamp(value, 0.f, 255.f))));
}

float ValueAt(const Picture& picture, int64_t row, int64_t column, int64_t channel) {
  const int64_t at = (row * picture.width + column) * picture.channels + channel;
  return static_cast<float>(static_cast<unsigned char>(picture.samples[static_cast<size_t>(at)]));
}

/// Scales one row to the columns of `blends`.
void ScaleRow(const Picture& picture, int64_t row, const std::vector<Blend>& blends, float* out) {
  for (const Blend& blend : blends) {
    for (int64_t channel = 0; channel < picture.channels; ++channel) {
      float sum = 0;
      int64_t column = blend.first;
      for (const float weight : blend.weights) {
        sum += weight * ValueAt(picture, row, column++, channel);
      }
      *out++ = sum;
    }
  }
}

}  // namespace

Picture Resized(const Picture& picture, int64_t width, int64_t height) {
  if (width == picture.width && height == picture.height) return picture;
  const auto columns = Blends(picture.width, width), rows = Blends(picture.height, height);
  Picture result{width, height, picture.channels, ""};
  const auto row_size = static_cast<size_t>(width * picture.channels);
  result.samples.reserve(row_size * static_cast<size_t>(height));
  std::vector<float> row(row_size), sum(row_size);
  for (const Blend& blend : rows) {
    std::fill(sum.begin(), sum.end(), 0.f);
    int64_t from = blend.first;
    for (const float weight : blend.weights) {
      ScaleRow(picture, from++, columns, row.data());
      for (size_t i = 0; i < row_size; ++i) sum[i] += weight * row[i];
    }
    for (const float value : sum) result.samples.push_back(Sample(value));
  }
  return result;
}

Picture WithChannels(Picture picture, int64_t channels) {
  if (picture.channels == channels) return picture;
  Picture result{picture.width, picture.height, channels, ""};
  const auto pixels = static_cast<size_t>(picture.width * picture.height);
  result.samples.reserve(pixels * static_cast<size_t>(channels));
  for (size_t i = 0; i < pixels; ++i) {
    if (channels == 3) {
      result.samples.append(3, picture.samples[i]);
    } else {
      const auto part = [&](size_t channel) {
        return static_cast<float>(static_cast<unsigned char>(picture.samples[3 * i + channel]));
      };
      result.samples.push_back(Sample(0.299f * part(0) + 0.587f * part(1) + 0.114f * part(2)));
    }
  }
  return result;
}

Picture Upright(Picture picture, int orientation) {
  if (orientation <= 1 || orientation > 8) return picture;
  const bool swaps = orientation >= 5;
  const bool mirrors_columns =
      orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  const bool mirrors_rows =
      orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  Picture result{picture.width, picture.height, picture.channels, ""};
  if (swaps) std::swap(result.width, result.height);
  result.samples.reserve(picture.samples.size());
  for (int64_t y = 0; y < result.height; ++y) {
    for (int64_t x = 0; x < result.width; ++x) {
      const int64_t column = swaps ? y : x, row = swaps ? x : y;
      const int64_t from_column = mirrors_columns ? picture.width - 1 - column : column;
      const int64_t from_row = mirrors_rows ? picture.height - 1 - row : row;
      const int64_t at = (from_row * picture.width + from_column) * picture.channels;
      result.samples.append(picture.samples, static_cast<size_t>(at),
                            static_cast<size_t>(picture.channels));
    }
  }
  return result;
}

}  // namespace nereid::app::tools
