// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "framework/placement.h"
#include "nereid/backend/model_config.h"
#include "onnxruntime/ort_api.h"

namespace nereid::onnxruntime {

using backend::ModelConfig;

/// An execution provider of ONNX Runtime and its options.
struct Provider {
  /// For SessionOptionsAppendExecutionProvider: "OpenVINO", "CUDA", "Tensorrt".
  std::string name;
  std::map<std::string, std::string> options;
};

/// The providers that execute a model.
struct Accelerators {
  /// In the order in which ONNX Runtime asks them. The CPU provider follows them by itself.
  std::vector<Provider> providers;
  /// If not null, OpenVINO itself runs the model instead of ONNX Runtime (openvino.h). Points into
  /// the configuration.
  const backend::AcceleratorConfig* openvino = nullptr;
};

/// Determines what the session of an instance needs: on the CPU, what
/// `optimization.execution_accelerators.cpu_execution_accelerator` requests; on a GPU, what
/// `gpu_execution_accelerator` requests, and CUDA. `available` are the providers of this ONNX
/// Runtime, by its own names ("OpenVINOExecutionProvider"). INVALID_ARG with a list of the known
/// names for an unknown name, also among the accelerators of the other kind, and for invalid
/// parameters. UNSUPPORTED for a known provider that is not available, except OpenVINO.
Error ChooseAccelerators(const ModelConfig& config, framework::Placement placement,
                         const std::vector<std::string>& available, Accelerators* accelerators);
/// Does the same with the providers of the opened ONNX Runtime.
Error ChooseAccelerators(const ModelConfig& config, framework::Placement placement,
                         Accelerators* accelerators);

/// Lists the providers of the opened ONNX Runtime.
Error AvailableProviders(std::vector<std::string>* available);

/// Returns a message that lists the settings which have no effect for a model whose first instance
/// has this placement, or an empty string.
std::string IgnoredSettings(const ModelConfig& config, framework::Placement placement);

/// Adds the chosen providers to a session's options.
Error SetAccelerators(const ModelConfig& config, framework::Placement placement,
                      OrtSessionOptions* options);

/// Adds a provider to a session's options.
Error AppendProvider(const Provider& provider, OrtSessionOptions* options);

}  // namespace nereid::onnxruntime
