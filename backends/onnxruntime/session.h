// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "nereid/backend/model_config.h"
#include "onnxruntime/environment.h"

namespace nereid::onnxruntime {

using backend::ModelConfig;

/// Opens the model file of `config`, with the options that its parameters, its optimization
/// settings and the backend's settings ask for.
Error CreateSession(const Environment& environment, const ModelConfig& config,
                    Owned<OrtSession>* session);

/// The options of each run (arena shrinkage).
Error CreateRunOptions(const ModelConfig& config, Owned<OrtRunOptions>* options);

/// The place of the ONNX file: DIRECTORY/VERSION/default_model_filename, or, where that is a folder
/// (a model with external data), the file of the same name or model.onnx in it.
Error FindModelFile(const ModelConfig& config, std::string* path);

}  // namespace nereid::onnxruntime
