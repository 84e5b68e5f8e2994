// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "nereid/backend/model_config.h"
#include "onnxruntime/ort_api.h"

namespace nereid::onnxruntime {

using backend::ModelConfig;

/// An execution provider of ONNX Runtime and its options.
struct Provider {
  std::string name;
  std::map<std::string, std::string> options;
};

/// The providers that execute a model.
struct Accelerators {
  /// In the configuration's order.
  std::vector<Provider> providers;
  /// If not null, OpenVINO itself runs the model instead of ONNX Runtime (openvino.h). Points into
  /// the configuration.
  const backend::AcceleratorConfig* openvino = nullptr;
};

/// Determines what `optimization.execution_accelerators.cpu_execution_accelerator` requests.
/// `available` are the providers of this ONNX Runtime, by its own names
/// ("OpenVINOExecutionProvider"). INVALID_ARG with a list of the known names for an unknown name,
/// also among the GPU accelerators. UNSUPPORTED for a known provider that is not available, except
/// OpenVINO.
Error ChooseAccelerators(const ModelConfig& config, const std::vector<std::string>& available,
                         Accelerators* accelerators);
/// Does the same with the providers of the opened ONNX Runtime.
Error ChooseAccelerators(const ModelConfig& config, Accelerators* accelerators);

/// Returns a message that lists the settings which need a GPU and are ignored, or an empty string.
std::string IgnoredOnCpu(const ModelConfig& config);

/// Adds the chosen providers to a session's options.
Error SetAccelerators(const ModelConfig& config, OrtSessionOptions* options);

}  // namespace nereid::onnxruntime
