// SPDX-License-Identifier: Apache-2.0
#include "pytorch/settings.h"

#include <algorithm>

namespace nereid::pytorch {
namespace {

constexpr int64_t kMaxThreads = 1024;

Error ReadFlag(const backend::Parameters& parameters, const char* name,
               std::optional<bool>* value) {
  if (parameters.Find(name) == nullptr) {
    return {};
  }
  bool flag = false;
  NEREID_BACKEND_TRY(parameters.ReadBool(name, &flag));
  *value = flag;
  return {};
}

Error ReadGpuFlags(const backend::Parameters& parameters, RunSettings* run,
                   ProcessSettings* process) {
  bool fuser = false;
  bool no_cudnn = false;
  NEREID_BACKEND_TRY(parameters.ReadBool("ENABLE_NVFUSER", &fuser));
  NEREID_BACKEND_TRY(parameters.ReadBool("ENABLE_CACHE_CLEANING", &run->cache_cleaning));
  NEREID_BACKEND_TRY(parameters.ReadBool("DISABLE_CUDNN", &no_cudnn));
  if (fuser) {  // PyTorch 2.15 has no such fuser
    process->without_effect.emplace_back("ENABLE_NVFUSER");
  }
  process->without_effect_on_cpu = process->without_effect;
  if (run->cache_cleaning) {
    process->without_effect_on_cpu.emplace_back("ENABLE_CACHE_CLEANING");
  }
  if (no_cudnn) {
    process->cudnn = false;
    process->without_effect_on_cpu.emplace_back("DISABLE_CUDNN");
  }
  return {};
}

Error ReadRun(const backend::ModelConfig& config, int64_t processors, RunSettings* run) {
  const backend::Parameters& parameters = config.parameters;
  bool disabled = false;
  NEREID_BACKEND_TRY(parameters.ReadBool("DISABLE_OPTIMIZED_EXECUTION", &disabled));
  run->optimized_execution = !disabled;
  NEREID_BACKEND_TRY(parameters.ReadBool("INFERENCE_MODE", &run->inference_mode));
  NEREID_BACKEND_TRY(parameters.ReadBool("ENABLE_WEIGHT_SHARING", &run->weight_sharing));
  int64_t threads = 0;
  NEREID_BACKEND_TRY(parameters.ReadInt("cpu_threads_per_instance", 0, kMaxThreads, &threads));
  NEREID_BACKEND_TRY(parameters.ReadInt("INTRA_OP_THREAD_COUNT", 0, kMaxThreads, &threads));
  if (threads == 0) {
    threads = std::min(kMaxThreads, processors / std::max<int64_t>(1, config.instance_count));
  }
  run->intra_op_threads = std::max<int64_t>(1, threads);
  return {};
}

}  // namespace

Error ReadSettings(const backend::ModelConfig& config, int64_t processors, RunSettings* run,
                   ProcessSettings* process) {
  const backend::Parameters& parameters = config.parameters;
  NEREID_BACKEND_TRY(ReadRun(config, processors, run));
  NEREID_BACKEND_TRY(
      parameters.ReadInt("INTER_OP_THREAD_COUNT", 0, kMaxThreads, &process->inter_op_threads));
  NEREID_BACKEND_TRY(ReadFlag(parameters, "ENABLE_JIT_EXECUTOR", &process->jit_executor));
  NEREID_BACKEND_TRY(ReadFlag(parameters, "ENABLE_JIT_PROFILING", &process->jit_profiling));
  NEREID_BACKEND_TRY(ReadFlag(parameters, "ENABLE_TENSOR_FUSER", &process->tensor_fuser));
  return ReadGpuFlags(parameters, run, process);
}

}  // namespace nereid::pytorch
