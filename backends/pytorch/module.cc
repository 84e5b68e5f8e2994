// SPDX-License-Identifier: Apache-2.0
#include "pytorch/module.h"

#include <ATen/Parallel.h>
#include <torch/script.h>

#include <filesystem>
#include <mutex>

#include "nereid/backend/log.h"
#include "pytorch/torch_error.h"

namespace nereid::pytorch {
namespace {

/// at::set_num_interop_threads can be called once in a process, before the first parallel work.
void SetInterOpThreads(const std::string& model, int64_t threads) {
  static std::once_flag once;
  static int64_t chosen = 0;
  std::call_once(once, [&] {
    chosen = threads;
    at::set_num_interop_threads(static_cast<int>(threads));
  });
  if (chosen != threads) {
    NEREID_BACKEND_LOG(WARN,
                       "model '" + model + "': INTER_OP_THREAD_COUNT " + std::to_string(threads) +
                           " is left aside: the process has settled for " + std::to_string(chosen));
  }
}

}  // namespace

Error ReadRunSettings(const backend::ModelConfig& config, RunSettings* settings) {
  const backend::Parameters& parameters = config.parameters;
  constexpr int64_t kMostThreads = 1024;
  bool disabled = false;
  int64_t inter = 0;
  NEREID_BACKEND_TRY(parameters.ReadBool("DISABLE_OPTIMIZED_EXECUTION", &disabled));
  settings->optimized_execution = !disabled;
  NEREID_BACKEND_TRY(parameters.ReadBool("INFERENCE_MODE", &settings->inference_mode));
  NEREID_BACKEND_TRY(parameters.ReadBool("ENABLE_WEIGHT_SHARING", &settings->weight_sharing));
  NEREID_BACKEND_TRY(
      parameters.ReadInt("cpu_threads_per_instance", 0, kMostThreads, &settings->intra_op_threads));
  NEREID_BACKEND_TRY(
      parameters.ReadInt("INTRA_OP_THREAD_COUNT", 0, kMostThreads, &settings->intra_op_threads));
  NEREID_BACKEND_TRY(parameters.ReadInt("INTER_OP_THREAD_COUNT", 0, kMostThreads, &inter));
  if (inter > 0) {
    SetInterOpThreads(config.name, inter);
  }
  bool flag = false;
  if (parameters.Find("ENABLE_JIT_EXECUTOR") != nullptr) {
    NEREID_BACKEND_TRY(parameters.ReadBool("ENABLE_JIT_EXECUTOR", &flag));
    torch::jit::getExecutorMode() = flag;
  }
  if (parameters.Find("ENABLE_JIT_PROFILING") != nullptr) {
    NEREID_BACKEND_TRY(parameters.ReadBool("ENABLE_JIT_PROFILING", &flag));
    torch::jit::getProfilingMode() = flag;
  }
  return {};
}

Error LoadModule(const backend::ModelConfig& config, const std::string& path,
                 std::shared_ptr<torch::jit::Module>* module) {
  std::error_code failure;
  if (!std::filesystem::is_regular_file(path, failure)) {
    return Error(TRITONSERVER_ERROR_NOT_FOUND,
                 "model '" + config.name + "': there is no file " + path);
  }
  return CatchTorch("model '" + config.name + "': " + path + " cannot be loaded", [&]() -> Error {
    auto loaded = std::make_shared<torch::jit::Module>(torch::jit::load(path, torch::kCPU));
    loaded->eval();
    *module = std::move(loaded);
    return {};
  });
}

Error ReadForward(const std::string& model, const torch::jit::Module& module,
                  ForwardSignature* signature) {
  return CatchTorch("model '" + model + "'", [&]() -> Error {
    const auto forward = module.find_method("forward");
    if (!forward) {
      return Error::InvalidArgument("model '" + model +
                                    "': the TorchScript module has no method forward");
    }
    const auto& arguments = forward->function().getSchema().arguments();
    for (size_t i = 1; i < arguments.size(); ++i) {
      signature->arguments.push_back(arguments[i].name());
      signature->has_default.push_back(arguments[i].default_value().has_value());
    }
    if (arguments.size() == 2) {
      const auto dictionary = arguments[1].type()->cast<c10::DictType>();
      signature->takes_dictionary =
          dictionary != nullptr && dictionary->getValueType()->cast<c10::TensorType>() != nullptr;
    }
    return {};
  });
}

}  // namespace nereid::pytorch
