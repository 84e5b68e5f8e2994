// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "nereid/backend/model_config.h"
#include "onnxruntime/ort_api.h"

namespace nereid::onnxruntime {

using backend::ModelConfig;

/// What ONNX Runtime calls an execution provider, with the options for it.
struct Provider {
  std::string name;
  std::map<std::string, std::string> options;
};

/// Who runs a model.
struct Accelerators {
  /// In the configuration's order.
  std::vector<Provider> providers;
  /// Not null: OpenVINO itself runs the model instead of ONNX Runtime (openvino.h). Part of the
  /// configuration.
  const backend::AcceleratorConfig* openvino = nullptr;
};

/// What `optimization.execution_accelerators.cpu_execution_accelerator` asks for. `available` is
/// what this ONNX Runtime was built with, in its own words ("OpenVINOExecutionProvider"). An
/// unknown name, there or among those of the GPU, is an error that lists the known ones; so is one
/// that is known and not available, but for OpenVINO.
Error ChooseAccelerators(const ModelConfig& config, const std::vector<std::string>& available,
                         Accelerators* accelerators);
/// The same with what the opened ONNX Runtime has.
Error ChooseAccelerators(const ModelConfig& config, Accelerators* accelerators);

/// One line that names what the configuration says and only a GPU could do, or "".
std::string LeftAsideOnCpu(const ModelConfig& config);

/// Adds the chosen providers to a session's options.
Error SetAccelerators(const ModelConfig& config, OrtSessionOptions* options);

}  // namespace nereid::onnxruntime
