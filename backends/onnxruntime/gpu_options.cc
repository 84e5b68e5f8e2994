// SPDX-License-Identifier: Apache-2.0
#include "onnxruntime/gpu_options.h"

#include <algorithm>
#include <iterator>
#include <vector>

namespace nereid::onnxruntime {
namespace {

/// An option of the CUDA provider that Triton takes as a parameter of the model.
struct CudaOption {
  const char* name;
  /// The values, in the order of Triton's numbers. Empty for a number of bytes.
  std::vector<std::string> values;
};

const std::vector<CudaOption>& CudaOptionList() {
  static const std::vector<CudaOption> list = {
      {"cudnn_conv_algo_search", {"EXHAUSTIVE", "HEURISTIC", "DEFAULT"}},
      {"gpu_mem_limit", {}},
      {"arena_extend_strategy", {"kNextPowerOfTwo", "kSameAsRequested"}},
      {"do_copy_in_default_stream", {"0", "1"}}};
  return list;
}

Error Invalid(const ModelConfig& config, const std::string& key, const std::string& value,
              const std::string& expected) {
  return Error::InvalidArgument("model '" + config.name + "': parameter '" + key + "' is '" +
                                value + "', but must be " + expected);
}

bool IsNumber(const std::string& text) {
  return !text.empty() && text.size() <= 20 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// Sets an option to ONNX Runtime's name of the value.
Error Translate(const ModelConfig& config, const CudaOption& option, const std::string& value,
                ProviderOptions* options) {
  if (option.values.empty()) {
    if (!IsNumber(value)) {
      return Invalid(config, option.name, value, "a number of bytes");
    }
    (*options)[option.name] = value;
    return {};
  }
  std::string expected;
  for (size_t i = 0; i < option.values.size(); ++i) {
    if (value == option.values[i] || value == std::to_string(i)) {
      (*options)[option.name] = option.values[i];
      return {};
    }
    expected += (i == 0 ? "" : ", ") + std::to_string(i);
    expected += option.values[i] == std::to_string(i) ? "" : " (" + option.values[i] + ")";
  }
  return Invalid(config, option.name, value, "one of " + expected);
}

const CudaOption* FindOption(const std::string& name) {
  const auto& list = CudaOptionList();
  const auto found = std::find_if(list.begin(), list.end(),
                                  [&](const CudaOption& option) { return name == option.name; });
  return found == list.end() ? nullptr : &*found;
}

Error SetPrecision(const ModelConfig& config, const std::string& mode, ProviderOptions* options) {
  if (mode == "FP16" || mode == "INT8") {
    (*options)[mode == "FP16" ? "trt_fp16_enable" : "trt_int8_enable"] = "1";
  } else if (mode != "FP32") {
    return Invalid(config, "precision_mode", mode, "FP32, FP16 or INT8");
  }
  return {};
}

}  // namespace

Error CudaOptions(const ModelConfig& config, int gpu, ProviderOptions* options) {
  options->clear();
  for (const CudaOption& option : CudaOptionList()) {
    if (const std::string* value = config.parameters.Find(option.name); value != nullptr) {
      NEREID_BACKEND_TRY(Translate(config, option, *value, options));
    }
  }
  for (const backend::AcceleratorConfig& accelerator : config.gpu_accelerators) {
    if (accelerator.name != "cuda") {
      continue;
    }
    for (const auto& [key, value] : accelerator.parameters) {
      if (const CudaOption* option = FindOption(key); option != nullptr) {
        NEREID_BACKEND_TRY(Translate(config, *option, value, options));
      } else {
        (*options)[key] = value;
      }
    }
  }
  (*options)["device_id"] = std::to_string(gpu);
  return {};
}

Error TensorRtOptions(const ModelConfig& config, const ProviderOptions& parameters, int gpu,
                      ProviderOptions* options) {
  static const std::map<std::string, std::string> names = {
      {"max_workspace_size_bytes", "trt_max_workspace_size"},
      {"int8_calibration_table_name", "trt_int8_calibration_table_name"},
      {"int8_use_native_calibration_table", "trt_int8_use_native_calibration_table"}};
  options->clear();
  for (const auto& [key, value] : parameters) {
    if (key == "precision_mode") {
      NEREID_BACKEND_TRY(SetPrecision(config, value, options));
    } else if (const auto name = names.find(key); name != names.end()) {
      (*options)[name->second] = value;
    } else if (key.starts_with("trt_")) {
      (*options)[key] = value;
    } else {
      return Error::InvalidArgument("model '" + config.name + "': unknown parameter '" + key +
                                    "' of the Execution Accelerator 'tensorrt'");
    }
  }
  (*options)["device_id"] = std::to_string(gpu);
  return {};
}

}  // namespace nereid::onnxruntime
