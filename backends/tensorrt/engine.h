// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <NvInfer.h>

#include <memory>
#include <string>
#include <vector>

#include "framework/signature.h"
#include "tensorrt/profile.h"

namespace nereid::tensorrt {

/// An input or output of an engine.
struct EngineTensor {
  framework::TensorSignature signature;
  bool input = false;
  /// Whether its values are dimensions, which the engine needs on the host.
  bool shape_tensor = false;
  /// Whether it is in CPU memory, for this or another reason.
  bool on_host = false;
};

/// An engine that TensorRT has loaded from a plan file.
class Engine {
 public:
  /// Reads `path` on the current CUDA device. Errors contain the path.
  static Error Read(const std::string& path, std::unique_ptr<Engine>* engine);

  /// The inputs (outputs) in the engine's order.
  const std::vector<EngineTensor>& inputs() const { return inputs_; }
  const std::vector<EngineTensor>& outputs() const { return outputs_; }
  int profile_count() const { return engine_->getNbOptimizationProfiles(); }
  /// Reads the ranges of a profile, in the order of inputs(). INTERNAL if the engine does not
  /// provide them.
  Error ReadProfile(int index, Profile* profile) const;
  /// Returns null if the device has too little memory.
  std::unique_ptr<nvinfer1::IExecutionContext> NewContext() const {
    return std::unique_ptr<nvinfer1::IExecutionContext>(engine_->createExecutionContext());
  }

 private:
  void Describe();
  Error ReadRange(const EngineTensor& input, int profile, nvinfer1::OptProfileSelector which,
                  std::vector<int64_t>* numbers) const;

  // The order of the two members matters: the engine must be destroyed before its runtime.
  std::unique_ptr<nvinfer1::IRuntime> runtime_;
  std::unique_ptr<nvinfer1::ICudaEngine> engine_;
  std::vector<EngineTensor> inputs_;
  std::vector<EngineTensor> outputs_;
};

}  // namespace nereid::tensorrt
