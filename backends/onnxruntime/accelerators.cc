// SPDX-License-Identifier: Apache-2.0
#include "onnxruntime/accelerators.h"

#include <algorithm>
#include <iterator>
#include <span>

#include "onnxruntime/gpu_options.h"

namespace nereid::onnxruntime {
namespace {

using backend::AcceleratorConfig;

struct Known {
  /// The name in the configuration.
  const char* name;
  /// The name for SessionOptionsAppendExecutionProvider. The name of an available provider is this
  /// with "ExecutionProvider" appended.
  const char* provider;
};

constexpr Known kCpuAccelerators[] = {{"openvino", "OpenVINO"}, {"xnnpack", "XNNPACK"}};
constexpr Known kGpuAccelerators[] = {
    {"tensorrt", "Tensorrt"}, {"cuda", "CUDA"}, {"rocm", "ROCM"}, {"migraphx", "MIGraphX"}};

const Known* Find(std::span<const Known> known, const std::string& name) {
  const auto found =
      std::find_if(known.begin(), known.end(), [&](const Known& row) { return name == row.name; });
  return found == known.end() ? nullptr : &*found;
}

std::string Join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : ", ") + word;
  }
  return text;
}

Error Unknown(const ModelConfig& config, const std::string& field, const std::string& name,
              std::span<const Known> known) {
  std::vector<std::string> names;
  std::transform(known.begin(), known.end(), std::back_inserter(names),
                 [](const Known& row) { return row.name; });
  return Error::InvalidArgument("model '" + config.name + "': unknown Execution Accelerator '" +
                                name + "' is requested in optimization.execution_accelerators." +
                                field + "; the known ones are: " + Join(names));
}

bool IsAvailable(const std::vector<std::string>& available, const std::string& provider) {
  return std::find(available.begin(), available.end(), provider + "ExecutionProvider") !=
         available.end();
}

Error Missing(const ModelConfig& config, const std::string& name,
              const std::vector<std::string>& available) {
  return Error::Unsupported("model '" + config.name + "': the Execution Accelerator '" + name +
                            "' is not in this ONNX Runtime, which has: " + Join(available) +
                            "; name a library that has it in NEREID_ONNXRUNTIME_LIBRARY, or "
                            "remove it from optimization.execution_accelerators");
}

Error CheckNames(const ModelConfig& config) {
  for (const AcceleratorConfig& accelerator : config.gpu_accelerators) {
    if (Find(kGpuAccelerators, accelerator.name) == nullptr) {
      return Unknown(config, "gpu_execution_accelerator", accelerator.name, kGpuAccelerators);
    }
  }
  for (const AcceleratorConfig& accelerator : config.cpu_accelerators) {
    if (Find(kCpuAccelerators, accelerator.name) == nullptr) {
      return Unknown(config, "cpu_execution_accelerator", accelerator.name, kCpuAccelerators);
    }
  }
  return {};
}

Error ChooseForCpu(const ModelConfig& config, const std::vector<std::string>& available,
                   Accelerators* accelerators) {
  for (const AcceleratorConfig& accelerator : config.cpu_accelerators) {
    const Known* known = Find(kCpuAccelerators, accelerator.name);
    if (IsAvailable(available, known->provider)) {
      accelerators->providers.push_back({known->provider, accelerator.parameters});
    } else if (accelerator.name == "openvino") {
      accelerators->openvino = &accelerator;
    } else {
      return Missing(config, accelerator.name, available);
    }
  }
  return {};
}

/// CUDA runs the parts of the model that the requested accelerators leave.
Error ChooseForGpu(const ModelConfig& config, int gpu, const std::vector<std::string>& available,
                   Accelerators* accelerators) {
  bool cuda = true;
  for (const AcceleratorConfig& accelerator : config.gpu_accelerators) {
    const Known* known = Find(kGpuAccelerators, accelerator.name);
    if (!IsAvailable(available, known->provider)) {
      return Missing(config, accelerator.name, available);
    }
    if (accelerator.name == "cuda") {
      continue;
    }
    Provider& provider = accelerators->providers.emplace_back();
    provider = {known->provider, accelerator.parameters};
    if (accelerator.name == "tensorrt") {
      NEREID_BACKEND_TRY(TensorRtOptions(config, accelerator.parameters, gpu, &provider.options));
    } else {
      provider.options["device_id"] = std::to_string(gpu);
      cuda = false;
    }
  }
  if (!cuda) {
    return {};
  }
  if (!IsAvailable(available, "CUDA")) {
    return Error::Unsupported(
        "model '" + config.name + "': ONNX Runtime cannot use GPU " + std::to_string(gpu) +
        ", because this library has no CUDA execution provider, only: " + Join(available) +
        "; install the library of onnxruntime-gpu (tools/fetch_onnxruntime.sh --gpu), or set the "
        "instance group's kind to KIND_CPU");
  }
  Provider& provider = accelerators->providers.emplace_back();
  provider.name = "CUDA";
  return CudaOptions(config, gpu, &provider.options);
}

/// Keys and values of options as the C API takes them.
struct OptionLists {
  explicit OptionLists(const std::map<std::string, std::string>& options) {
    for (const auto& [key, value] : options) {
      keys.push_back(key.c_str());
      values.push_back(value.c_str());
    }
  }

  std::vector<const char*> keys;
  std::vector<const char*> values;
};

}  // namespace

Error ChooseAccelerators(const ModelConfig& config, framework::Placement placement,
                         const std::vector<std::string>& available, Accelerators* accelerators) {
  NEREID_BACKEND_TRY(CheckNames(config));
  *accelerators = Accelerators();
  return placement.on_gpu() ? ChooseForGpu(config, placement.gpu, available, accelerators)
                            : ChooseForCpu(config, available, accelerators);
}

Error ChooseAccelerators(const ModelConfig& config, framework::Placement placement,
                         Accelerators* accelerators) {
  std::vector<std::string> available;
  NEREID_BACKEND_TRY(AvailableProviders(&available));
  return ChooseAccelerators(config, placement, available, accelerators);
}

Error AvailableProviders(std::vector<std::string>* available) {
  char** names = nullptr;
  int count = 0;
  NEREID_ORT_TRY(Api().GetAvailableProviders(&names, &count));
  available->assign(names, names + count);
  return ToError(Api().ReleaseAvailableProviders(names, count));
}

std::string IgnoredSettings(const ModelConfig& config, framework::Placement placement) {
  std::vector<std::string> names = config.gpu_settings;
  const auto& others = placement.on_gpu() ? config.cpu_accelerators : config.gpu_accelerators;
  for (const AcceleratorConfig& accelerator : others) {
    names.push_back("the Execution Accelerator '" + accelerator.name + "'");
  }
  if (names.empty()) {
    return "";
  }
  return "model '" + config.name + "' " +
         (placement.on_gpu() ? "runs on a GPU with ONNX Runtime and ignores these settings: "
                             : "runs on the CPU and ignores these settings for GPUs: ") +
         Join(names);
}

Error SetAccelerators(const ModelConfig& config, framework::Placement placement,
                      OrtSessionOptions* options) {
  Accelerators accelerators;
  NEREID_BACKEND_TRY(ChooseAccelerators(config, placement, &accelerators));
  for (const Provider& provider : accelerators.providers) {
    NEREID_BACKEND_TRY(AppendProvider(provider, options));
  }
  return {};
}

Error AppendProvider(const Provider& provider, OrtSessionOptions* options) {
  const OptionLists lists(provider.options);
  const size_t count = lists.keys.size();
  if (provider.name == "CUDA") {
    OrtCUDAProviderOptionsV2* made = nullptr;
    NEREID_ORT_TRY(Api().CreateCUDAProviderOptions(&made));
    const Owned<OrtCUDAProviderOptionsV2> cuda(made);
    NEREID_ORT_TRY(
        Api().UpdateCUDAProviderOptions(made, lists.keys.data(), lists.values.data(), count));
    return ToError(Api().SessionOptionsAppendExecutionProvider_CUDA_V2(options, made));
  }
  if (provider.name == "Tensorrt") {
    OrtTensorRTProviderOptionsV2* made = nullptr;
    NEREID_ORT_TRY(Api().CreateTensorRTProviderOptions(&made));
    const Owned<OrtTensorRTProviderOptionsV2> tensorrt(made);
    NEREID_ORT_TRY(
        Api().UpdateTensorRTProviderOptions(made, lists.keys.data(), lists.values.data(), count));
    return ToError(Api().SessionOptionsAppendExecutionProvider_TensorRT_V2(options, made));
  }
  return ToError(Api().SessionOptionsAppendExecutionProvider(
      options, provider.name.c_str(), lists.keys.data(), lists.values.data(), count));
}

}  // namespace nereid::onnxruntime
