// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "nereid/backend/model_config.h"

namespace nereid::pytorch {

using backend::Error;

/// How a model runs: its parameters.
struct RunSettings {
  bool optimized_execution = true;  // DISABLE_OPTIMIZED_EXECUTION
  bool inference_mode = true;       // INFERENCE_MODE
  bool weight_sharing = false;      // ENABLE_WEIGHT_SHARING: one module for all instances
  /// Threads of one execution, at least 1: INTRA_OP_THREAD_COUNT, else what the server's plan gives
  /// an instance (cpu_threads_per_instance), else its share of the processors.
  int64_t intra_op_threads = 1;
};

/// What holds for all models of the process. Where models differ, the last one loaded decides; of
/// the number of threads, the first.
struct ProcessSettings {
  int64_t inter_op_threads = 0;       // INTER_OP_THREAD_COUNT; 0: PyTorch's own choice
  std::optional<bool> jit_executor;   // ENABLE_JIT_EXECUTOR
  std::optional<bool> jit_profiling;  // ENABLE_JIT_PROFILING
  std::optional<bool> tensor_fuser;   // ENABLE_TENSOR_FUSER
  /// Parameters that are set and mean something only on a GPU.
  std::vector<std::string> without_effect;
};

/// INVALID_ARG for a value that a parameter cannot have.
Error ReadSettings(const backend::ModelConfig& config, int64_t processors, RunSettings* run,
                   ProcessSettings* process);

}  // namespace nereid::pytorch
