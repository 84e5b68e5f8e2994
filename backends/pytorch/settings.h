// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "nereid/backend/model_config.h"

namespace nereid::pytorch {

using backend::Error;

/// How a model is run, according to its parameters.
struct RunSettings {
  bool optimized_execution = true;  // DISABLE_OPTIMIZED_EXECUTION
  bool inference_mode = true;       // INFERENCE_MODE
  bool weight_sharing = false;      // ENABLE_WEIGHT_SHARING: one module for all instances of a GPU
  bool cache_cleaning = false;      // ENABLE_CACHE_CLEANING: give free GPU memory back after a run
  /// The number of threads of one execution, at least 1: INTRA_OP_THREAD_COUNT, else the server's
  /// plan for an instance (cpu_threads_per_instance), else the instance's share of the CPUs.
  int64_t intra_op_threads = 1;
};

/// Settings of the whole process. If models differ, the last loaded model decides, except for the
/// number of threads, where the first does.
struct ProcessSettings {
  int64_t inter_op_threads = 0;       // INTER_OP_THREAD_COUNT; with 0 PyTorch chooses
  std::optional<bool> jit_executor;   // ENABLE_JIT_EXECUTOR
  std::optional<bool> jit_profiling;  // ENABLE_JIT_PROFILING
  std::optional<bool> tensor_fuser;   // ENABLE_TENSOR_FUSER
  std::optional<bool> cudnn;          // the opposite of DISABLE_CUDNN
  /// The parameters that are set but have no effect on any processor.
  std::vector<std::string> without_effect;
  /// The parameters that are set but have no effect on the CPU.
  std::vector<std::string> without_effect_on_cpu;
};

/// Reads the parameters. `processors` is the number of usable CPUs. INVALID_ARG for an invalid
/// value.
Error ReadSettings(const backend::ModelConfig& config, int64_t processors, RunSettings* run,
                   ProcessSettings* process);

}  // namespace nereid::pytorch
