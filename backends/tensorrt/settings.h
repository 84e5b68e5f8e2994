// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "nereid/backend/json.h"
#include "nereid/backend/model_config.h"
#include "tensorrt/engine.h"

namespace nereid::tensorrt {

/// The settings of --backend-config=tensorrt,...
struct BackendOptions {
  /// Libraries with plugins (`plugins`, divided by ';').
  std::vector<std::string> plugins;
  /// Whether plans may bring their own runtime (`version-compatible`).
  bool host_code = false;
  /// Whether one thread at a time launches work on a GPU (`execution-policy=DEVICE_BLOCKING`).
  bool one_launcher = false;
  /// Whether adjacent inputs of a batch are used in place (`coalesce-request-input`).
  bool coalesce_inputs = false;
};

/// INVALID_ARG, with the setting, for values that are not understood.
Error ReadBackendOptions(const backend::Parameters& given, BackendOptions* options);

/// Shapes of the model's inputs, without the batch dimension; values, for a shape tensor.
struct GraphShapes {
  int64_t batch_size = 0;
  std::map<std::string, std::vector<int64_t>> inputs;
};

/// An entry of optimization.cuda.graph_spec.
struct GraphSpec {
  GraphShapes shapes;
  /// The smallest shapes for which the graph is used (graph_lower_bound).
  std::optional<GraphShapes> lower;
};

/// The settings of a model that are TensorRT's own.
struct Settings {
  ContextMemory context_memory = ContextMemory::kStatic;
  /// Files for GPUs of a compute capability ("9.0"), by that (cc_model_filenames).
  std::map<std::string, std::string> files;
  /// The profiles that the instance groups name; empty if none does.
  std::vector<std::string> profiles;
  /// The GPU of the first instance group, on which the plan is read to check the configuration.
  int first_gpu = 0;
  /// The DLA core of the first instance group; -1 if it names none.
  int first_dla_core = -1;
  /// optimization.priority: -1 for PRIORITY_MIN, 1 for PRIORITY_MAX.
  int priority = 0;

  /// Whether optimization.gather_kernel_buffer_threshold is set, which has no effect.
  bool gather_kernel = false;

  // optimization.cuda
  bool graphs = false;
  std::vector<GraphSpec> graph_specs;
  bool busy_wait = false;
  bool output_stream = false;
};

/// Reads the settings from a configuration. `parameters` are those of the model. INVALID_ARG, with
/// the field, for values that are not understood.
Error ReadSettings(const rapidjson::Value& config, const backend::Parameters& parameters,
                   Settings* settings);

}  // namespace nereid::tensorrt
