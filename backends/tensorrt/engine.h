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
  /// Its values, on the host, say shapes.
  bool shape_tensor = false;
  /// In CPU memory for another reason or for that one.
  bool on_host = false;
};

/// A plan file that TensorRT has taken.
class Engine {
 public:
  /// Reads `path` on the current device. The messages name it.
  static Error Read(const std::string& path, std::unique_ptr<Engine>* engine);

  /// Inputs first, in the engine's order.
  const std::vector<EngineTensor>& inputs() const { return inputs_; }
  const std::vector<EngineTensor>& outputs() const { return outputs_; }
  int profile_count() const { return engine_->getNbOptimizationProfiles(); }
  /// Of the inputs, in their order. INTERNAL where the engine does not tell.
  Error ReadProfile(int index, Profile* profile) const;
  /// Null where the device has no room.
  std::unique_ptr<nvinfer1::IExecutionContext> NewContext() const {
    return std::unique_ptr<nvinfer1::IExecutionContext>(engine_->createExecutionContext());
  }

 private:
  void Describe();
  Error ReadRange(const EngineTensor& input, int profile, nvinfer1::OptProfileSelector which,
                  std::vector<int64_t>* numbers) const;

  // In this order: an engine ends before its runtime.
  std::unique_ptr<nvinfer1::IRuntime> runtime_;
  std::unique_ptr<nvinfer1::ICudaEngine> engine_;
  std::vector<EngineTensor> inputs_;
  std::vector<EngineTensor> outputs_;
};

}  // namespace nereid::tensorrt
