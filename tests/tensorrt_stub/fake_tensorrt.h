// SPDX-License-Identifier: Apache-2.0
#pragma once

// A fake TensorRT and CUDA in host memory, behind the stand-in headers of this folder. A test
// describes the engine of the next plan file. A run copies each input to the output with the same
// index (doubled for FP32) and records its inputs.

#include <map>
#include <string>
#include <vector>

#include "NvInfer.h"

namespace nereid::tensorrt::testing {

struct FakeTensor {
  std::string name;
  nvinfer1::DataType type = nvinfer1::DataType::kFLOAT;
  std::vector<int64_t> dims;
  bool input = true;
  bool shape_tensor = false;
};

/// The minimum, optimum and maximum of one input.
struct FakeRange {
  std::vector<int64_t> numbers[3];
};

struct FakeTensorRt {
  std::vector<FakeTensor> tensors;
  /// [profile][name of an input]
  std::vector<std::map<std::string, FakeRange>> profiles;

  // Injected failures.
  bool no_context = false;
  bool enqueue_fails = false;
  bool no_device_memory = false;
  int devices = 1;

  // Recorded calls.
  int last_profile = -1;
  std::map<std::string, std::vector<int64_t>> last_shapes;
  std::map<std::string, std::vector<int64_t>> last_values;  // of shape tensors
  /// Allocations that were not freed, device and host.
  int live = 0;
};

/// Returns the only instance of the process.
FakeTensorRt& Fake();

}  // namespace nereid::tensorrt::testing
