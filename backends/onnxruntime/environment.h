// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "nereid/backend/parameters.h"
#include "onnxruntime/ort_api.h"
#include "triton/core/tritonbackend.h"

namespace nereid::onnxruntime {

using backend::Parameters;

/// What all models of the process share: ONNX Runtime's environment and the backend's settings.
struct Environment {
  /// Opens ONNX Runtime and makes the environment that the backend's settings ask for.
  Error Load(TRITONBACKEND_Backend* backend);

  Owned<OrtEnv> env;
  /// The plug-in's own folder.
  std::string directory;
  Parameters settings;
  /// Sessions run on one pool of threads (backend setting enable-global-threadpool).
  bool global_threads = false;
};

}  // namespace nereid::onnxruntime
