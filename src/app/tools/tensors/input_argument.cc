// SPDX-License-Identifier: Apache-2.0
#include "app/tools/tensors/input_argument.h"

#include <algorithm>
#include <utility>

#include "app/tools/tensors/decode_picture.h"
#include "app/tools/tensors/fit_shape.h"
#include "app/tools/tensors/nested_values.h"
#include "app/tools/tensors/npy_file.h"
#include "app/tools/tensors/number_cells.h"
#include "app/tools/tensors/wav_file.h"
#include "base/ascii_case.h"
#include "base/files.h"
#include "base/parse_number.h"
#include "tensor/bytes.h"

namespace nereid::app::tools {
namespace {

using base::Status;
using tensor::DataType;

constexpr uint64_t kMaxGeneratedBytes = uint64_t{1} << 30;

/// Values and whether they have a shape of their own.
struct Values {
  Tensor tensor;
  bool has_shape = false;
};

enum class Form {
  kInline,
  kUnknownFile,
  kNpy,
  kJson,
  kRaw,
  kImage,
  kAudio,
  kText,
  kZeros,
  kRandom
};

bool EndsWith(std::string_view path, std::string_view ending) {
  return path.size() >= ending.size() &&
         base::EqualsIgnoringCase(path.substr(path.size() - ending.size()), ending);
}

/// Finds the form and removes its prefix from `value`. A file behind "@" is known by its ending.
Form FormOf(std::string_view* value) {
  constexpr std::pair<std::string_view, Form> kPrefixes[] = {
      {"npy:", Form::kNpy},     {"json:", Form::kJson},   {"raw:", Form::kRaw},
      {"image:", Form::kImage}, {"audio:", Form::kAudio}, {"text:", Form::kText}};
  if (*value == "zeros") return Form::kZeros;
  if (*value == "random") return Form::kRandom;
  for (const auto& [prefix, form] : kPrefixes) {
    if (!value->starts_with(prefix)) continue;
    value->remove_prefix(prefix.size());
    return form;
  }
  if (!value->starts_with('@')) return Form::kInline;
  value->remove_prefix(1);
  if (EndsWith(*value, ".npy")) return Form::kNpy;
  if (EndsWith(*value, ".json")) return Form::kJson;
  for (const char* const ending : {".png", ".jpg", ".jpeg", ".ppm", ".pgm"}) {
    if (EndsWith(*value, ending)) return Form::kImage;
  }
  if (EndsWith(*value, ".wav")) return Form::kAudio;
  return Form::kUnknownFile;
}

Tensor OneText(std::string_view text) {
  Tensor tensor{"", DataType::kBytes, {}, ""};
  tensor::AppendBytesElement(text, &tensor.bytes);
  return tensor;
}

/// Reads values as JSON; "1,2,3" and "1 2 3" are lists without brackets, and text for BYTES needs
/// no quotes.
base::Result<Values> FromText(DataType type, std::string text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  const bool is_list = first != text.npos && text[first] == '[';
  if (type == DataType::kBytes && !is_list) return Values{OneText(text)};
  if (is_list) {
    NEREID_ASSIGN_OR_RETURN(Tensor tensor, ReadNestedValues(text, type));
    return Values{std::move(tensor), true};
  }
  if (text.find(',') == text.npos) {
    const size_t last = text.find_last_not_of(" \t\r\n");
    text = first == text.npos ? "" : text.substr(first, last - first + 1);
    std::string separated;
    for (const char c : text) {
      const bool is_blank = c == ' ' || c == '\t' || c == '\r' || c == '\n';
      if (!is_blank) separated += c;
      if (is_blank && !separated.ends_with(',')) separated += ',';
    }
    text = std::move(separated);
  }
  NEREID_ASSIGN_OR_RETURN(Tensor tensor, ReadNestedValues("[" + text + "]", type));
  return Values{std::move(tensor), false};
}

base::Result<Values> FromRaw(DataType type, std::string content) {
  if (type == DataType::kBytes) return Values{OneText(content)};
  const uint32_t size = tensor::DataTypeByteSize(type);
  if (size == 0 || content.size() % size != 0) {
    return Status::InvalidArgument("the file has " + std::to_string(content.size()) +
                                   " bytes, which is no multiple of " + std::to_string(size) +
                                   ", the size of " + std::string(tensor::DataTypeName(type)));
  }
  return Values{Tensor{"", type, {}, std::move(content)}};
}

base::Result<Values> FromImage(const TensorSpec& spec, std::string content, PictureScale scale) {
  // A model that takes strings decodes the picture itself.
  if (spec.type == DataType::kBytes) return Values{OneText(content)};
  NEREID_ASSIGN_OR_RETURN(Picture picture, DecodePicture(content));
  NEREID_ASSIGN_OR_RETURN(Tensor tensor, PictureTensor(spec, std::move(picture), scale));
  return Values{std::move(tensor), true};
}

base::Result<Values> FromAudio(const TensorSpec& spec, std::string content, uint32_t rate) {
  // A model that takes strings decodes the recording itself.
  if (spec.type == DataType::kBytes) return Values{OneText(content)};
  NEREID_ASSIGN_OR_RETURN(const Recording recording, ParseWav(content));
  NEREID_ASSIGN_OR_RETURN(Tensor tensor, RecordingTensor(spec, recording, rate));
  // One channel fits whatever dimensions the model has in front, as a list of numbers does.
  return Values{std::move(tensor), recording.channels > 1};
}

/// Returns pseudo-random values, the same ones every time: 0 to 99 for integers, -1 to 1 for
/// floating-point numbers, eight letters for strings.
base::Result<Values> Generated(const TensorSpec& spec, const std::optional<tensor::Shape>& shape,
                               bool zeros) {
  Tensor tensor{"", spec.type, shape ? *shape : tensor::WithoutVariableDims(spec.dims), ""};
  const auto count = tensor::ElementCount(tensor.shape);
  const auto size = tensor::ZeroByteSize(spec.type, tensor.shape);
  if (!count || !size || *size > kMaxGeneratedBytes) {
    return Status::InvalidArgument("the shape " + tensor::ShapeText(tensor.shape) +
                                   " is too large for generated values");
  }
  if (zeros) {
    tensor.bytes.assign(*size, '\0');
    return Values{std::move(tensor), true};
  }
  uint32_t seed = 1;
  const auto next = [&] { return seed = seed * 1664525u + 1013904223u; };
  const bool is_float = spec.type == DataType::kFp16 || spec.type == DataType::kFp32 ||
                        spec.type == DataType::kFp64 || spec.type == DataType::kBf16;
  for (int64_t i = 0; i < *count; ++i) {
    if (spec.type == DataType::kBytes) {
      std::string word;
      while (word.size() < 8) word += static_cast<char>('a' + (next() >> 16) % 26);
      tensor::AppendBytesElement(word, &tensor.bytes);
      continue;
    }
    codec::json::Number number;
    number.kind =
        is_float ? codec::json::Number::Kind::kDouble : codec::json::Number::Kind::kUnsigned;
    if (is_float) {
      number.d = (next() >> 8) / 8388608.0 - 1;
    } else {
      number.u = (next() >> 16) % (spec.type == DataType::kBool ? 2 : 100);
    }
    NEREID_RETURN_IF_ERROR(AppendCell(spec.type, number, &tensor.bytes));
  }
  return Values{std::move(tensor), true};
}

base::Result<Values> ReadValues(const TensorSpec& spec, const std::string& value,
                                const std::optional<tensor::Shape>& shape,
                                const MediaForms& media) {
  std::string_view rest = value;
  const Form form = FormOf(&rest);
  if (form == Form::kZeros || form == Form::kRandom) {
    return Generated(spec, shape, form == Form::kZeros);
  }
  if (form == Form::kInline) return FromText(spec.type, value);
  if (form == Form::kText) {
    if (spec.type != DataType::kBytes) return FromText(spec.type, std::string(rest));
    return Values{OneText(rest)};
  }
  NEREID_ASSIGN_OR_RETURN(std::string content, base::ReadFile(std::string(rest)));
  if (form == Form::kNpy) {
    NEREID_ASSIGN_OR_RETURN(Tensor tensor, ParseNpy(content));
    NEREID_ASSIGN_OR_RETURN(tensor, ConvertTensor(std::move(tensor), spec.type));
    return Values{std::move(tensor), true};
  }
  if (form == Form::kJson) return FromText(spec.type, std::move(content));
  const bool is_bytes = spec.type == DataType::kBytes;
  const bool is_picture = form == Form::kUnknownFile && !is_bytes && IsPicture(content);
  const bool is_recording = form == Form::kUnknownFile && !is_bytes && IsWav(content);
  if (form == Form::kAudio || is_recording) {
    return FromAudio(spec, std::move(content), media.audio_rate);
  }
  if (form == Form::kImage || is_picture) return FromImage(spec, std::move(content), media.scale);
  if (form == Form::kUnknownFile && !is_bytes && EndsWith(rest, ".txt")) {
    return FromText(spec.type, std::move(content));
  }
  return FromRaw(spec.type, std::move(content));
}

base::Result<Tensor> MakeShaped(const TensorSpec& spec, const std::string& value,
                                const std::optional<tensor::Shape>& shape,
                                const MediaForms& media) {
  NEREID_ASSIGN_OR_RETURN(Values values, ReadValues(spec, value, shape, media));
  values.tensor.name = spec.name;
  if (!shape) {
    NEREID_RETURN_IF_ERROR(FitShape(spec, values.has_shape, &values.tensor));
    return std::move(values.tensor);
  }
  const int64_t count = CountElements(values.tensor);
  if (tensor::ElementCount(*shape) != count) {
    return Status::InvalidArgument("the shape " + tensor::ShapeText(*shape) + " does not fit " +
                                   std::to_string(count) + " elements");
  }
  values.tensor.shape = *shape;
  return std::move(values.tensor);
}

}  // namespace

base::Result<std::pair<std::string, std::string>> SplitAssignment(std::string_view flag,
                                                                  const std::string& text) {
  const size_t equals = text.find('=');
  if (equals != text.npos && equals != 0) {
    return std::pair(text.substr(0, equals), text.substr(equals + 1));
  }
  return Status::InvalidArgument("--" + std::string(flag) + " must be <name>=<value>. Got " + text);
}

base::Result<InputArguments> InputArguments::From(const ToolArguments& arguments) {
  InputArguments result;
  for (const std::string& text : arguments.All("input")) {
    NEREID_ASSIGN_OR_RETURN(auto pair, SplitAssignment("input", text));
    if (!result.values.insert(std::move(pair)).second) {
      return Status::InvalidArgument("--input names one input twice: " + text);
    }
  }
  for (const std::string& text : arguments.All("shape")) {
    NEREID_ASSIGN_OR_RETURN(const auto pair, SplitAssignment("shape", text));
    NEREID_ASSIGN_OR_RETURN(result.shapes[pair.first], ParseShapeText(pair.second));
  }
  NEREID_ASSIGN_OR_RETURN(result.media.scale,
                          ParsePictureScale(arguments.Get("image-scale", "unit")));
  const std::string rate = arguments.Get("audio-rate", "0");
  const auto number = base::ParseWhole<uint32_t>(rate);
  if (!number) {
    return Status::InvalidArgument(
        "--audio-rate must be a whole number of frames in a second. Got " + rate);
  }
  result.media.audio_rate = *number;
  return result;
}

base::Result<Tensor> MakeInput(const TensorSpec& spec, const std::string& value,
                               const std::optional<tensor::Shape>& shape, const MediaForms& media) {
  auto made = MakeShaped(spec, value, shape, media);
  if (made.ok()) return made;
  return Status(made.status().code(), "input '" + spec.name + "': " + made.status().message());
}

base::Result<std::vector<Tensor>> MakeInputs(std::span<const TensorSpec> specs,
                                             std::span<const std::string> optional,
                                             const InputArguments& arguments,
                                             const std::string& fill) {
  const auto names = [&](const auto& map) -> Status {
    for (const auto& entry : map) {
      if (std::any_of(specs.begin(), specs.end(),
                      [&](const TensorSpec& spec) { return spec.name == entry.first; })) {
        continue;
      }
      std::string all;
      for (const TensorSpec& spec : specs) all += (all.empty() ? "" : ", ") + spec.name;
      return Status::InvalidArgument("the model has no input '" + entry.first +
                                     "', its inputs are " + all);
    }
    return {};
  };
  NEREID_RETURN_IF_ERROR(names(arguments.values));
  NEREID_RETURN_IF_ERROR(names(arguments.shapes));
  std::vector<Tensor> inputs;
  for (const TensorSpec& spec : specs) {
    const auto found = arguments.values.find(spec.name);
    if (found == arguments.values.end() && fill.empty()) {
      if (std::find(optional.begin(), optional.end(), spec.name) != optional.end()) continue;
      return Status::InvalidArgument("the input '" + spec.name + "' has no value; it is " +
                                     std::string(tensor::DataTypeName(spec.type)) + " " +
                                     tensor::ShapeText(spec.dims) + ", for example --input " +
                                     spec.name + "=zeros");
    }
    const auto shape = arguments.shapes.find(spec.name);
    NEREID_ASSIGN_OR_RETURN(
        Tensor input,
        MakeInput(spec, found == arguments.values.end() ? fill : found->second,
                  shape == arguments.shapes.end() ? std::nullopt : std::optional(shape->second),
                  arguments.media));
    inputs.push_back(std::move(input));
  }
  return inputs;
}

}  // namespace nereid::app::tools
