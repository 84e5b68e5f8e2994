// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "nereid/backend/model_config.h"
#include "pytorch/naming.h"

namespace torch::jit {
struct Module;
}

namespace nereid::pytorch {

/// How a model runs: its parameters.
struct RunSettings {
  bool optimized_execution = true;  // DISABLE_OPTIMIZED_EXECUTION
  bool inference_mode = true;       // INFERENCE_MODE
  bool weight_sharing = false;      // ENABLE_WEIGHT_SHARING: one module for all instances
  int64_t intra_op_threads = 0;     // INTRA_OP_THREAD_COUNT, cpu_threads_per_instance; 0: PyTorch's
};

/// Reads them, and sets what is the process' own (INTER_OP_THREAD_COUNT, ENABLE_JIT_EXECUTOR,
/// ENABLE_JIT_PROFILING).
Error ReadRunSettings(const backend::ModelConfig& config, RunSettings* settings);

/// What forward takes.
struct ForwardSignature {
  std::vector<std::string> arguments;  // without self
  std::vector<bool> has_default;       // of each
  bool takes_dictionary = false;       // the only argument is a dictionary of tensors
};

/// Opens a TorchScript file.
Error LoadModule(const backend::ModelConfig& config, const std::string& path,
                 std::shared_ptr<torch::jit::Module>* module);
Error ReadForward(const std::string& model, const torch::jit::Module& module,
                  ForwardSignature* signature);

}  // namespace nereid::pytorch
