// SPDX-License-Identifier: Apache-2.0
#include "app/tools/tensors/picture_tensor.h"

#include <array>
#include <string>
#include <utility>

#include "app/tools/tensors/number_cells.h"

namespace nereid::app::tools {
namespace {

using tensor::DataType;

/// Where the dimensions of a picture are in the shape of an input.
struct Layout {
  int64_t channels = 1, height = 0, width = 0;  // the last two may be variable
  bool channels_first = false;
  size_t leading = 0;  // dimensions in front, which are 1
  size_t rank = 3;
};

bool IsChannels(int64_t dim) { return dim == 1 || dim == 3; }

bool FindLayout(const tensor::Shape& dims, int64_t channels_of_picture, Layout* layout) {
  const size_t n = dims.size();
  if (n >= 3 && (IsChannels(dims[n - 3]) || IsChannels(dims[n - 1]))) {
    // [3,H,3] is read as [C,H,W].
    layout->channels_first = IsChannels(dims[n - 3]) && !(dims[n - 3] == 1 && dims[n - 1] == 3);
    layout->channels = layout->channels_first ? dims[n - 3] : dims[n - 1];
    layout->height = layout->channels_first ? dims[n - 2] : dims[n - 3];
    layout->width = layout->channels_first ? dims[n - 1] : dims[n - 2];
  } else if (n >= 3 && dims[n - 1] == tensor::kVariableDim) {
    layout->channels = channels_of_picture;
    layout->height = dims[n - 3];
    layout->width = dims[n - 2];
  } else if (n == 2) {
    layout->rank = 2;
    layout->height = dims[0];
    layout->width = dims[1];
  } else {
    return false;
  }
  layout->leading = n - layout->rank;
  for (size_t i = 0; i < layout->leading; ++i) {
    if (dims[i] != 1 && dims[i] != tensor::kVariableDim) return false;
  }
  return true;
}

float Scaled(PictureScale scale, unsigned char sample, size_t channel) {
  constexpr std::array<float, 3> kMean = {0.485f, 0.456f, 0.406f};
  constexpr std::array<float, 3> kDeviation = {0.229f, 0.224f, 0.225f};
  const auto value = static_cast<float>(sample);
  switch (scale) {
    case PictureScale::kUnit:
      return value / 255;
    case PictureScale::kRaw:
      return value;
    case PictureScale::kInception:
      return value / 127.5f - 1;
    case PictureScale::kImagenet:
      return (value / 255 - kMean[channel]) / kDeviation[channel];
  }
  return value;
}

bool IsFloat(DataType type) {
  return type == DataType::kFp16 || type == DataType::kBf16 || type == DataType::kFp32 ||
         type == DataType::kFp64;
}

codec::json::Number SampleNumber(DataType type, PictureScale scale, unsigned char sample,
                                 size_t channel) {
  codec::json::Number number;
  if (IsFloat(type)) {
    number.kind = codec::json::Number::Kind::kDouble;
    number.d = Scaled(scale, sample, channel);
  } else {
    number.kind = codec::json::Number::Kind::kUnsigned;
    number.u = sample;
  }
  return number;
}

}  // namespace

base::Result<PictureScale> ParsePictureScale(std::string_view text) {
  if (text == "unit") return PictureScale::kUnit;
  if (text == "raw") return PictureScale::kRaw;
  if (text == "inception") return PictureScale::kInception;
  if (text == "imagenet") return PictureScale::kImagenet;
  return base::Status::InvalidArgument(
      "--image-scale must be unit, raw, inception or imagenet. Got " + std::string(text));
}

base::Result<Tensor> PictureTensor(const TensorSpec& spec, Picture picture, PictureScale scale) {
  Layout layout;
  if (!FindLayout(spec.dims, picture.channels, &layout)) {
    return base::Status::InvalidArgument(
        "the input '" + spec.name + "' has the shape " + tensor::ShapeText(spec.dims) +
        ", which is not that of a picture: expected [3,H,W] or [H,W,3], perhaps with a batch");
  }
  const int64_t height = layout.height == tensor::kVariableDim ? picture.height : layout.height;
  const int64_t width = layout.width == tensor::kVariableDim ? picture.width : layout.width;
  if (height < 1 || width < 1 || height > kMaxPixels / width) {
    return base::Status::InvalidArgument("the input '" + spec.name + "' has the shape " +
                                         tensor::ShapeText(spec.dims) +
                                         ", too large for a picture");
  }
  picture = Resized(WithChannels(std::move(picture), layout.channels), width, height);
  const auto channels = static_cast<size_t>(layout.channels);
  const auto pixels = static_cast<size_t>(width * height);
  Tensor tensor{spec.name, spec.type, tensor::Shape(layout.leading, 1), ""};
  if (layout.channels_first) tensor.shape.push_back(layout.channels);
  tensor.shape.insert(tensor.shape.end(), {height, width});
  if (!layout.channels_first && layout.rank == 3) tensor.shape.push_back(layout.channels);
  for (size_t i = 0; i < pixels * channels; ++i) {
    const size_t channel = layout.channels_first ? i / pixels : i % channels;
    const size_t pixel = layout.channels_first ? i % pixels : i / channels;
    const auto sample = static_cast<unsigned char>(picture.samples[pixel * channels + channel]);
    const auto number = SampleNumber(spec.type, scale, sample, layout.channels == 3 ? channel : 0);
    NEREID_RETURN_IF_ERROR(AppendCell(spec.type, number, &tensor.bytes));
  }
  return tensor;
}

}  // namespace nereid::app::tools
