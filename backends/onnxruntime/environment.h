// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "nereid/backend/parameters.h"
#include "onnxruntime/ort_api.h"
#include "triton/core/tritonbackend.h"

namespace nereid::onnxruntime {

using backend::Parameters;

/// The state that all models of the process share: ONNX Runtime's environment and the backend's
/// settings.
struct Environment {
  /// Opens ONNX Runtime and creates the environment according to the backend's settings.
  Error Load(TRITONBACKEND_Backend* backend);

  /// Returns whether models without instance groups run on GPUs if the server uses GPUs.
  bool PrefersGpu() const { return cuda_problem.empty(); }

  Owned<OrtEnv> env;
  /// The directory of this plug-in.
  std::string directory;
  Parameters settings;
  /// Whether sessions share one pool of threads (backend setting enable-global-threadpool).
  bool global_threads = false;
  /// Why no session can use a GPU by CUDA, and what to do about it; empty if a session can.
  std::string cuda_problem;
};

}  // namespace nereid::onnxruntime
