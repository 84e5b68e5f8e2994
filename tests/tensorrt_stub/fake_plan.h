// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <NvInfer.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace nereid::tensorrt::testing {

struct FakeTensor {
  std::string name;
  nvinfer1::DataType type = nvinfer1::DataType::kFLOAT;
  std::vector<int64_t> dims;
  bool input = true;
  bool shape_tensor = false;
  bool on_host = false;
  nvinfer1::TensorFormat format = nvinfer1::TensorFormat::kLINEAR;
  int vectorized_dim = -1;
  int components = 1;
  bool data_dependent = false;

  /// Returns the size in bytes of a tensor of this shape.
  size_t ByteSize(const nvinfer1::Dims& dims) const;
};

/// The minimum, optimum and maximum of an input: its shape or, for a shape tensor, its values.
struct FakeRange {
  std::vector<int64_t> numbers[3];
};

/// The content of a plan file.
struct FakePlan {
  std::vector<FakeTensor> tensors;
  std::vector<std::map<std::string, FakeRange>> profiles;
  bool needs_host_code = false;
  bool implicit_batch = false;
  /// Whether only one context at a time may select a profile.
  bool exclusive_profiles = false;

  const FakeTensor* Find(const std::string& name) const;
  /// Returns false, with a reason, if the text is no plan.
  bool Parse(std::string_view text, std::string* reason);
};

}  // namespace nereid::tensorrt::testing
