// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "nereid/backend/error.h"
#include "nereid/backend/parameters.h"
#include "python/environment.h"
#include "python/requirements.h"
#include "python/spawner.h"
#include "triton/core/tritonbackend.h"

namespace nereid::python {

/// The settings of --backend-config=python,key=value. Those of Triton's backend that are about its
/// shared memory are checked as there, and have no other effect.
struct BackendSettings {
  /// The limit of auto_complete_config(), initialize() and finalize() of models that give none; 0
  /// for none.
  int64_t stub_timeout_seconds = 0;
  /// The interpreter of models that name none.
  std::string interpreter = "python3";
  RequirementsSettings requirements;
};

/// The variable of the environment with the interpreter of the package whose program the server is.
inline constexpr const char* kInterpreterVariable = "NEREID_PYTHON_INTERPRETER";

/// Reads the settings. INVALID_ARG with Triton's texts for values that it refuses.
backend::Error ReadBackendSettings(const backend::Parameters& parameters,
                                   BackendSettings* settings);

/// What all Python models share.
class PythonBackend {
 public:
  backend::Error Load(TRITONBACKEND_Backend* backend);

  const BackendSettings& settings() const { return settings_; }
  /// The folder of the backend: backends/python, or that of a backend that is written in Python.
  const std::string& directory() const { return directory_; }
  /// The folder of this library, with the files of the workers.
  const std::string& runtime() const { return runtime_; }
  Spawner& spawner() { return spawner_; }
  Environments& environments() { return environments_; }

 private:
  BackendSettings settings_;
  std::string directory_;
  std::string runtime_;
  Spawner spawner_;
  Environments environments_;
};

}  // namespace nereid::python
