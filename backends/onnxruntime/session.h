// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "nereid/backend/model_config.h"
#include "onnxruntime/environment.h"

namespace nereid::onnxruntime {

using backend::ModelConfig;

/// An ONNX model: a file, or bytes in memory.
struct ModelSource {
  /// Empty where the model is in `bytes`.
  std::string path;
  std::string bytes;
  /// What errors call a model in memory: the file that it was made from.
  std::string origin;
  /// What messages about the configuration call the model, and the backend.
  std::string kind = "ONNX model";
  std::string backend = "ONNX Runtime";
  /// The names that clients know of outputs which the graph calls otherwise.
  std::map<std::string, std::string> output_names;
  /// False where a tensor without dimensions may have any rank.
  bool ranks_declared = true;
};

/// Finds or makes the model of a configuration.
using OpenModel = Error (*)(const ModelConfig& config, ModelSource* source);

/// The model file of `config`.
Error OpenModelFile(const ModelConfig& config, ModelSource* source);

/// Opens the model, with the options that its parameters, its optimization
/// settings and the backend's settings ask for.
Error CreateSession(const Environment& environment, const ModelConfig& config,
                    const ModelSource& source, Owned<OrtSession>* session);

/// The options of each run (arena shrinkage).
Error CreateRunOptions(const ModelConfig& config, Owned<OrtRunOptions>* options);

/// The place of the ONNX file: DIRECTORY/VERSION/default_model_filename, or, where that is a folder
/// (a model with external data), the file of the same name or model.onnx in it.
Error FindModelFile(const ModelConfig& config, std::string* path);

}  // namespace nereid::onnxruntime
