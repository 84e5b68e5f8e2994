// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openvino/core/any.hpp>
#include <string>
#include <vector>

#include "nereid/backend/error.h"
#include "nereid/backend/model_config.h"

namespace nereid::openvino {

using backend::Error;

/// The settings in a model's parameters; README.md describes them.
struct Settings {
  /// TARGET_DEVICE.
  std::string device = "CPU";
  /// The properties for ov::Core::compile_model.
  ov::AnyMap properties;
  /// CPU_EXTENSION_PATH: a library of operators; may be empty.
  std::string extension;
  /// SKIP_OV_DYNAMIC_BATCHSIZE: every run has exactly max_batch_size rows.
  bool fixed_batch = false;
  /// ENABLE_BATCH_PADDING: smaller batches are padded instead of refused.
  bool pad_batch = false;
  /// RESHAPE_IO_LAYERS: the inputs get the shapes of the configuration.
  bool reshape = false;
  /// Whether the server chooses the number of threads of each execution (ForThreads).
  bool varies = false;
  /// The parameters that have no effect with this version of OpenVINO.
  std::vector<std::string> ignored;
};

/// Reads the parameters. INVALID_ARG for an unexpected value.
Error ReadSettings(const backend::ModelConfig& config, Settings* settings);

/// Returns the properties for executions with `threads` threads of a model whose threads vary: as
/// many streams as `cpus` CPUs and `instances` instances need.
ov::AnyMap ForThreads(const Settings& settings, int64_t threads, int64_t instances, int64_t cpus);

/// Does the same as ReadSettings for an ONNX model that OpenVINO accelerates. `parameters` are
/// those of the accelerator, with the names of ONNX Runtime's OpenVINO provider.
Error ReadAcceleratorSettings(const backend::ModelConfig& config,
                              const backend::Parameters& parameters, Settings* settings);

}  // namespace nereid::openvino
