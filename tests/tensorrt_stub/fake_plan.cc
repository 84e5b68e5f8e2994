// SPDX-License-Identifier: Apache-2.0
#include "fake_plan.h"

#include <algorithm>
#include <sstream>

namespace nereid::tensorrt::testing {
namespace {

using nvinfer1::DataType;
using nvinfer1::TensorFormat;

const std::map<std::string, DataType>& Types() {
  static const auto* const types = new std::map<std::string, DataType>{
      {"BOOL", DataType::kBOOL},   {"UINT8", DataType::kUINT8}, {"INT8", DataType::kINT8},
      {"INT32", DataType::kINT32}, {"INT64", DataType::kINT64}, {"FP16", DataType::kHALF},
      {"BF16", DataType::kBF16},   {"FP32", DataType::kFLOAT},  {"FP8", DataType::kFP8}};
  return *types;
}

size_t ElementSize(DataType type) {
  switch (type) {
    case DataType::kINT64:
      return 8;
    case DataType::kFLOAT:
    case DataType::kINT32:
      return 4;
    case DataType::kHALF:
    case DataType::kBF16:
      return 2;
    default:
      return 1;
  }
}

/// Parses "1,-1,4"; "-" has no numbers.
std::vector<int64_t> Numbers(const std::string& text) {
  std::vector<int64_t> numbers;
  std::istringstream stream(text == "-" ? "" : text);
  for (std::string number; std::getline(stream, number, ',');) {
    numbers.push_back(std::atoll(number.c_str()));
  }
  return numbers;
}

void SetFormat(const std::string& word, FakeTensor* tensor) {
  if (word == "HWC8" || word == "CHW4") {
    tensor->format = word == "HWC8" ? TensorFormat::kHWC8 : TensorFormat::kCHW4;
    tensor->vectorized_dim = 1;
    tensor->components = word == "HWC8" ? 8 : 4;
  } else if (word == "DLA_LINEAR") {
    tensor->format = TensorFormat::kDLA_LINEAR;
  }
}

bool ParseTensor(std::istringstream& line, FakeTensor* tensor) {
  std::string type, dims;
  line >> tensor->name >> type >> dims;
  const auto found = Types().find(type);
  if (found == Types().end()) {
    return false;
  }
  tensor->type = found->second;
  tensor->dims = Numbers(dims);
  for (std::string word; line >> word;) {
    tensor->shape_tensor = tensor->shape_tensor || word == "shape";
    tensor->on_host = tensor->on_host || word == "shape" || word == "host";
    tensor->data_dependent = tensor->data_dependent || word == "data_dependent";
    SetFormat(word, tensor);
  }
  return tensor->dims.size() <= nvinfer1::Dims::MAX_DIMS;
}

}  // namespace

size_t FakeTensor::ByteSize(const nvinfer1::Dims& shape) const {
  size_t size = ElementSize(type);
  for (int32_t i = 0; i < shape.nbDims; ++i) {
    auto dim = static_cast<size_t>(shape.d[i]);
    if (i == vectorized_dim) {
      const auto unit = static_cast<size_t>(components);
      dim = (dim + unit - 1) / unit * unit;
    }
    size *= dim;
  }
  return size;
}

const FakeTensor* FakePlan::Find(const std::string& name) const {
  const auto found = std::find_if(tensors.begin(), tensors.end(),
                                  [&](const FakeTensor& tensor) { return tensor.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

bool FakePlan::Parse(std::string_view text, std::string* reason) {
  std::istringstream lines{std::string(text)};
  std::string line;
  if (!std::getline(lines, line) || line != "fake plan") {
    *reason = "the magic tag does not match";
    return false;
  }
  bool complete = false;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word == "input" || word == "output") {
      FakeTensor& tensor = tensors.emplace_back();
      tensor.input = word == "input";
      if (!ParseTensor(words, &tensor)) {
        *reason = "a tensor cannot be read: " + line;
        return false;
      }
    } else if (word == "profile") {
      profiles.emplace_back();
    } else if (word == "range" && !profiles.empty()) {
      std::string name, numbers;
      words >> name;
      for (std::vector<int64_t>& bound : profiles.back()[name].numbers) {
        words >> numbers;
        bound = Numbers(numbers);
      }
    } else if (word == "host_code") {
      needs_host_code = true;
    } else if (word == "implicit_batch") {
      implicit_batch = true;
    } else if (word == "exclusive_profiles") {
      exclusive_profiles = true;
    } else if (word == "end") {
      complete = true;
    }
  }
  if (!complete) {
    *reason = "the plan is truncated";
  }
  return complete;
}

}  // namespace nereid::tensorrt::testing
