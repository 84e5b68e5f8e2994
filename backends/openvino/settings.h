// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openvino/core/any.hpp>
#include <string>
#include <vector>

#include "nereid/backend/error.h"
#include "nereid/backend/model_config.h"

namespace nereid::openvino {

using backend::Error;

/// What a model's parameters ask for; README.md lists them.
struct Settings {
  /// TARGET_DEVICE.
  std::string device = "CPU";
  /// For ov::Core::compile_model.
  ov::AnyMap properties;
  /// CPU_EXTENSION_PATH: a library of operators, or empty.
  std::string extension;
  /// SKIP_OV_DYNAMIC_BATCHSIZE: every run has exactly max_batch_size rows.
  bool fixed_batch = false;
  /// ENABLE_BATCH_PADDING: smaller batches are filled up, not refused.
  bool pad_batch = false;
  /// RESHAPE_IO_LAYERS: the inputs take the shapes of the configuration.
  bool reshape = false;
  /// Parameters that this OpenVINO has no use for.
  std::vector<std::string> left_aside;
};

/// Reads them. INVALID_ARG for a value that is none of those expected.
Error ReadSettings(const backend::ModelConfig& config, Settings* settings);

/// The same for an ONNX model that its configuration accelerates with OpenVINO: `parameters` are
/// the accelerator's, by the names of ONNX Runtime's OpenVINO provider.
Error ReadAcceleratorSettings(const backend::ModelConfig& config,
                              const backend::Parameters& parameters, Settings* settings);

}  // namespace nereid::openvino
