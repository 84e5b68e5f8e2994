// SPDX-License-Identifier: Apache-2.0
// The values that --input gives to the inputs of a model.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/tools/tensors/picture_tensor.h"
#include "app/tools/tensors/tensor.h"
#include "app/tools/tool_flags.h"
#include "base/result.h"

namespace nereid::app::tools {

/// The flags that give inputs, shared by the tools that send requests.
inline constexpr ToolFlag kInputFlag = {
    "input,i", "name=value",
    "Values of an input, for each input once: numbers 1,2,3 or JSON [[1,2],[3,4]]; @file, whose "
    "ending\n        or content says what it is; or npy:file, json:file, raw:file, image:file, "
    "audio:file,\n        text:words, zeros, random"};
inline constexpr ToolFlag kShapeFlag = {
    "shape", "name=d,d",
    "Shape of an input, where it does not follow from the values and the model"};
inline constexpr ToolFlag kImageScaleFlag = {
    "image-scale", "unit|raw|inception|imagenet",
    "How pixels become floating-point numbers: 0 to 1 (default), 0 to 255, -1 to 1, or less the\n"
    "        mean of ImageNet and divided by its deviation"};

inline constexpr ToolFlag kAudioRateFlag = {
    "audio-rate", "number",
    "Frames in a second that the model needs; a recording with another rate is an error"};

/// How pictures and recordings become numbers.
struct MediaForms {
  PictureScale scale = PictureScale::kUnit;
  uint32_t audio_rate = 0;  // of every recording; 0 for any
};

/// What the flags --input, --shape, --image-scale and --audio-rate say.
struct InputArguments {
  std::map<std::string, std::string, std::less<>> values;  // by the name of the input
  std::map<std::string, tensor::Shape, std::less<>> shapes;
  MediaForms media;

  /// INVALID_ARGUMENT for a flag of another form, and for an input that is named twice.
  static base::Result<InputArguments> From(const ToolArguments& arguments);
};

/// Splits "name=value" at the first "=". INVALID_ARGUMENT, with the flag's name, if there is none.
base::Result<std::pair<std::string, std::string>> SplitAssignment(std::string_view flag,
                                                                  const std::string& text);

/// Makes the tensor that `value` describes, in the shape that the model takes. Reads the file that
/// it names. Every error names the input.
base::Result<Tensor> MakeInput(const TensorSpec& spec, const std::string& value,
                               const std::optional<tensor::Shape>& shape, const MediaForms& media);

/// Makes all inputs. An input without a value is left out if `fill` is empty and the spec is in
/// `optional`, else gets the value `fill` ("zeros", "random"); with an empty `fill` that is
/// INVALID_ARGUMENT. So is a value for an input that the model does not have.
base::Result<std::vector<Tensor>> MakeInputs(std::span<const TensorSpec> specs,
                                             std::span<const std::string> optional,
                                             const InputArguments& arguments,
                                             const std::string& fill);

}  // namespace nereid::app::tools
