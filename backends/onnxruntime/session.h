// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "nereid/backend/model_config.h"
#include "onnxruntime/ort_api.h"

namespace nereid::onnxruntime {

using backend::ModelConfig;
using backend::Parameters;

/// What all models of the process share: ONNX Runtime's environment and the backend's settings.
struct Environment {
  Owned<OrtEnv> env;
  Parameters settings;
  /// Sessions run on one pool of threads (backend setting enable-global-threadpool).
  bool global_threads = false;
};

/// Makes the environment from the backend's settings. OpenOnnxRuntime must have succeeded.
Error CreateEnvironment(Parameters settings, Environment* environment);

/// Opens the model file of `config`, with the options that its parameters, its optimization
/// settings and the backend's settings ask for.
Error CreateSession(const Environment& environment, const ModelConfig& config,
                    Owned<OrtSession>* session);

/// The options of each run (arena shrinkage).
Error CreateRunOptions(const ModelConfig& config, Owned<OrtRunOptions>* options);

/// Whether the instances of the model share one session; parameter
/// share_session_between_instances, true by default.
Error SharesSession(const ModelConfig& config, bool* shares);

/// The place of the ONNX file: DIRECTORY/VERSION/default_model_filename, or, where that is a folder
/// (a model with external data), the file of the same name or model.onnx in it.
Error FindModelFile(const ModelConfig& config, std::string* path);

}  // namespace nereid::onnxruntime
