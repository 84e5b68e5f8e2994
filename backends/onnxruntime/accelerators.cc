// SPDX-License-Identifier: Apache-2.0
#include "onnxruntime/accelerators.h"

#include <algorithm>
#include <iterator>
#include <span>

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

}  // namespace

Error ChooseAccelerators(const ModelConfig& config, const std::vector<std::string>& available,
                         Accelerators* accelerators) {
  for (const AcceleratorConfig& accelerator : config.gpu_accelerators) {
    if (Find(kGpuAccelerators, accelerator.name) == nullptr) {
      return Unknown(config, "gpu_execution_accelerator", accelerator.name, kGpuAccelerators);
    }
  }
  *accelerators = Accelerators();
  for (const AcceleratorConfig& accelerator : config.cpu_accelerators) {
    const Known* known = Find(kCpuAccelerators, accelerator.name);
    if (known == nullptr) {
      return Unknown(config, "cpu_execution_accelerator", accelerator.name, kCpuAccelerators);
    }
    const std::string provider = std::string(known->provider) + "ExecutionProvider";
    if (std::find(available.begin(), available.end(), provider) == available.end()) {
      if (accelerator.name == "openvino") {
        accelerators->openvino = &accelerator;
        continue;
      }
      return Error::Unsupported("model '" + config.name + "': the Execution Accelerator '" +
                                accelerator.name +
                                "' is not in this ONNX Runtime, which has: " + Join(available) +
                                "; name a library that has it in NEREID_ONNXRUNTIME_LIBRARY, or "
                                "remove it from optimization.execution_accelerators");
    }
    accelerators->providers.push_back({known->provider, accelerator.parameters});
  }
  return {};
}

std::string IgnoredOnCpu(const ModelConfig& config) {
  std::vector<std::string> names = config.gpu_settings;
  for (const AcceleratorConfig& accelerator : config.gpu_accelerators) {
    names.push_back("the Execution Accelerator '" + accelerator.name + "'");
  }
  return names.empty()
             ? ""
             : "model '" + config.name +
                   "' runs on the CPU and ignores these settings for GPUs: " + Join(names);
}

Error ChooseAccelerators(const ModelConfig& config, Accelerators* accelerators) {
  char** names = nullptr;
  int count = 0;
  NEREID_ORT_TRY(Api().GetAvailableProviders(&names, &count));
  const std::vector<std::string> available(names, names + count);
  NEREID_ORT_TRY(Api().ReleaseAvailableProviders(names, count));
  return ChooseAccelerators(config, available, accelerators);
}

Error SetAccelerators(const ModelConfig& config, OrtSessionOptions* options) {
  Accelerators accelerators;
  NEREID_BACKEND_TRY(ChooseAccelerators(config, &accelerators));
  for (const Provider& provider : accelerators.providers) {
    std::vector<const char*> keys;
    std::vector<const char*> values;
    for (const auto& [key, value] : provider.options) {
      keys.push_back(key.c_str());
      values.push_back(value.c_str());
    }
    NEREID_ORT_TRY(Api().SessionOptionsAppendExecutionProvider(
        options, provider.name.c_str(), keys.data(), values.data(), keys.size()));
  }
  return {};
}

}  // namespace nereid::onnxruntime
