// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "framework/placement.h"
#include "nereid/backend/model_config.h"
#include "onnxruntime/environment.h"

namespace nereid::onnxruntime {

using backend::ModelConfig;

/// The source of an ONNX model: a file, or bytes in memory.
struct ModelSource {
  /// Empty if the model is in `bytes`.
  std::string path;
  std::string bytes;
  /// The name of a model in memory in errors: the file from which it was made.
  std::string origin;
  /// The names of backend and model in messages about the configuration.
  std::string backend = "ONNX Runtime";
  std::string kind = "ONNX model";
  /// Maps names of graph outputs to the names for clients, where they differ.
  std::map<std::string, std::string> output_names;
  /// False if a tensor without dimensions may have any rank.
  bool ranks_declared = true;
};

/// Finds or creates the model of a configuration.
using OpenModel = Error (*)(const ModelConfig& config, ModelSource* source);

/// Finds the model file of `config`.
Error OpenModelFile(const ModelConfig& config, ModelSource* source);

/// Opens the model where `placement` says, with the options from its parameters, its optimization
/// settings and the backend's settings. UNAVAILABLE for a GPU that ONNX Runtime cannot use.
Error CreateSession(const Environment& environment, const ModelConfig& config,
                    const ModelSource& source, framework::Placement placement,
                    std::optional<uint32_t> threads, Owned<OrtSession>* session);

/// Creates the options of each run (arena shrinkage).
Error CreateRunOptions(const ModelConfig& config, Owned<OrtRunOptions>* options);

/// Finds the ONNX file: DIRECTORY/VERSION/default_model_filename. If that is a directory (a model
/// with external data), the file of the same name or model.onnx in it. UNAVAILABLE if there is no
/// such file.
Error FindModelFile(const ModelConfig& config, std::string* path);

}  // namespace nereid::onnxruntime
