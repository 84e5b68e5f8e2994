// SPDX-License-Identifier: Apache-2.0
#include "openvino/settings.h"

#include <algorithm>
#include <openvino/runtime/properties.hpp>
#include <utility>

namespace nereid::openvino {
namespace {

using backend::ModelConfig;
using backend::Parameters;

constexpr int64_t kMaxThreads = 1024;

/// Properties of the CPU device that are passed to OpenVINO unchanged.
constexpr const char* kPassed[] = {
    "CPU_DENORMALS_OPTIMIZATION",      "CPU_SPARSE_WEIGHTS_DECOMPRESSION_RATE",
    "DYNAMIC_QUANTIZATION_GROUP_SIZE", "ENABLE_CPU_PINNING",
    "ENABLE_HYPER_THREADING",          "EXECUTION_MODE_HINT",
    "INFERENCE_PRECISION_HINT",        "KV_CACHE_PRECISION",
    "PERFORMANCE_HINT_NUM_REQUESTS",   "SCHEDULING_CORE_TYPE",
};

std::string UpperCase(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return text;
}

class Reader {
 public:
  Reader(const ModelConfig& config, const Parameters& parameters, Settings* settings)
      : config_(config), parameters_(parameters), settings_(*settings) {
    // OpenVINO must not bind the server's threads to CPUs, or several of them could share one.
    Set(ov::hint::enable_cpu_pinning(false));
  }

  Error Wrong(const char* key, const std::string& expected) const {
    return Error::InvalidArgument("model '" + config_.name + "': parameter '" + key + "' is '" +
                                  *parameters_.Find(key) + "', but must be " + expected);
  }

  /// Reads YES or NO, or one of their synonyms. Leaves `value` unchanged if the key is absent.
  Error ReadYesNo(const char* key, bool* value) const {
    const std::string* text = parameters_.Find(key);
    if (text == nullptr) {
      return {};
    }
    const std::string upper = UpperCase(*text);
    if (upper == "YES" || upper == "TRUE" || upper == "1") {
      *value = true;
    } else if (upper == "NO" || upper == "FALSE" || upper == "0") {
      *value = false;
    } else {
      return Wrong(key, "YES or NO");
    }
    return {};
  }

  /// Sets the number of threads: the server's plan for each instance, unless the model's parameters
  /// give a number. With 0, OpenVINO chooses.
  Error ReadThreads(std::initializer_list<const char*> keys) {
    int64_t threads = 0;
    NEREID_BACKEND_TRY(
        config_.parameters.ReadInt("cpu_threads_per_instance", 0, kMaxThreads, &threads));
    threads *= config_.instance_count;
    for (const char* key : keys) {
      NEREID_BACKEND_TRY(parameters_.ReadInt(key, 0, kMaxThreads, &threads));
    }
    if (threads > 0) {
      Set(ov::inference_num_threads(static_cast<int32_t>(threads)));
    }
    return {};
  }

  /// Sets the number of streams: one for each instance, unless a performance hint or a number is
  /// given.
  Error ReadStreams(std::initializer_list<const char*> keys) {
    bool given = false;
    int64_t streams = config_.instance_count;
    for (const char* key : keys) {
      const std::string* text = parameters_.Find(key);
      if (text == nullptr) {
        continue;
      }
      given = true;
      const std::string upper = UpperCase(*text);
      if (upper == "AUTO" || upper == "NUMA") {
        streams = upper == "AUTO" ? ov::streams::AUTO.num : ov::streams::NUMA.num;
      } else if (!parameters_.ReadInt(key, 1, kMaxThreads, &streams).ok()) {
        return Wrong(key, "AUTO, NUMA or an integer from 1 to " + std::to_string(kMaxThreads));
      }
    }
    if (given || settings_.properties.count(ov::hint::performance_mode.name()) == 0) {
      Set(ov::num_streams(ov::streams::Num(static_cast<int32_t>(streams))));
    }
    return {};
  }

  Error ReadHint() {
    if (const std::string* text = parameters_.Find("PERFORMANCE_HINT"); text != nullptr) {
      const std::string upper = UpperCase(*text);
      if (upper != "LATENCY" && upper != "THROUGHPUT" && upper != "CUMULATIVE_THROUGHPUT") {
        return Wrong("PERFORMANCE_HINT", "LATENCY, THROUGHPUT or CUMULATIVE_THROUGHPUT");
      }
      settings_.properties[ov::hint::performance_mode.name()] = upper;
    }
    return {};
  }

  Error ReadPrecision() {
    for (const char* key : {"ENFORCE_BF16", "HINT_BF16"}) {
      bool narrow = false;
      NEREID_BACKEND_TRY(ReadYesNo(key, &narrow));
      if (parameters_.Find(key) != nullptr) {
        Set(ov::hint::inference_precision(narrow ? ov::element::bf16 : ov::element::f32));
      }
    }
    return {};
  }

  Error ReadPinning() {
    const std::string* text = parameters_.Find("CPU_BIND_THREAD");
    if (text == nullptr) {
      return {};
    }
    bool pinned = UpperCase(*text) == "NUMA";
    if (!pinned && !ReadYesNo("CPU_BIND_THREAD", &pinned).ok()) {
      return Wrong("CPU_BIND_THREAD", "YES, NUMA or NO");
    }
    Set(ov::hint::enable_cpu_pinning(pinned));
    return {};
  }

  void Pass() {
    for (const char* key : kPassed) {
      if (const std::string* text = parameters_.Find(key); text != nullptr) {
        settings_.properties[key] = *text;
      }
    }
  }

  void Set(const std::pair<std::string, ov::Any>& property) {
    settings_.properties[property.first] = property.second;
  }

 private:
  const ModelConfig& config_;
  const Parameters& parameters_;
  Settings& settings_;
};

Error ReadCompilationThreads(const ModelConfig& config, Settings* settings) {
  int64_t threads = 0;
  NEREID_BACKEND_TRY(
      config.parameters.ReadInt("COMPILATION_NUM_THREADS", 0, kMaxThreads, &threads));
  if (config.parameters.Find("COMPILATION_NUM_THREADS") != nullptr) {
    settings->ignored.push_back("COMPILATION_NUM_THREADS");
  }
  return {};
}

/// Reads whether the number of threads may vary: it does not if the model sets threads, streams or
/// a device.
Error ReadVaries(const ModelConfig& config, Settings* settings) {
  NEREID_BACKEND_TRY(config.parameters.ReadBool("cpu_threads_vary", &settings->varies));
  for (const char* key : {"CPU_THREADS_NUM", "INFERENCE_NUM_THREADS", "CPU_THROUGHPUT_STREAMS",
                          "NUM_STREAMS", "PERFORMANCE_HINT", "TARGET_DEVICE"}) {
    settings->varies = settings->varies && config.parameters.Find(key) == nullptr;
  }
  return {};
}

}  // namespace

ov::AnyMap ForThreads(const Settings& settings, int64_t threads, int64_t instances, int64_t cpus) {
  ov::AnyMap properties = settings.properties;
  const int64_t streams = std::max<int64_t>(1, std::min(instances, cpus / threads));
  for (const auto& property :
       {ov::num_streams(ov::streams::Num(static_cast<int32_t>(streams))),
        ov::inference_num_threads(static_cast<int32_t>(streams * threads))}) {
    properties[property.first] = property.second;
  }
  return properties;
}

Error ReadSettings(const ModelConfig& config, Settings* settings) {
  Reader reader(config, config.parameters, settings);
  NEREID_BACKEND_TRY(reader.ReadHint());
  NEREID_BACKEND_TRY(reader.ReadThreads({"CPU_THREADS_NUM", "INFERENCE_NUM_THREADS"}));
  NEREID_BACKEND_TRY(reader.ReadStreams({"CPU_THROUGHPUT_STREAMS", "NUM_STREAMS"}));
  NEREID_BACKEND_TRY(reader.ReadPrecision());
  NEREID_BACKEND_TRY(reader.ReadPinning());
  NEREID_BACKEND_TRY(reader.ReadYesNo("SKIP_DYNAMIC_BATCHSIZE", &settings->fixed_batch));
  NEREID_BACKEND_TRY(reader.ReadYesNo("SKIP_OV_DYNAMIC_BATCHSIZE", &settings->fixed_batch));
  NEREID_BACKEND_TRY(reader.ReadYesNo("ENABLE_BATCH_PADDING", &settings->pad_batch));
  NEREID_BACKEND_TRY(reader.ReadYesNo("RESHAPE_IO_LAYERS", &settings->reshape));
  NEREID_BACKEND_TRY(ReadCompilationThreads(config, settings));
  NEREID_BACKEND_TRY(ReadVaries(config, settings));
  settings->fixed_batch = settings->fixed_batch && config.batching();
  reader.Pass();
  if (const std::string* device = config.parameters.Find("TARGET_DEVICE"); device != nullptr) {
    settings->device = *device;
  }
  if (const std::string* path = config.parameters.Find("CPU_EXTENSION_PATH"); path != nullptr) {
    settings->extension = *path;
  }
  return {};
}

Error ReadAcceleratorSettings(const ModelConfig& config, const Parameters& parameters,
                              Settings* settings) {
  constexpr const char* kKnown[] = {"device_type", "num_of_threads", "num_streams", "precision"};
  for (const auto& [key, value] : parameters.values()) {
    if (std::find(std::begin(kKnown), std::end(kKnown), key) == std::end(kKnown)) {
      return Error::InvalidArgument(
          "model '" + config.name + "': the Execution Accelerator 'openvino' has no parameter '" +
          key + "'; it has: device_type, num_of_threads, num_streams, precision");
    }
  }
  Reader reader(config, parameters, settings);
  NEREID_BACKEND_TRY(reader.ReadThreads({"num_of_threads"}));
  NEREID_BACKEND_TRY(reader.ReadStreams({"num_streams"}));
  // Results should equal those of ONNX Runtime, so FP32 is computed as FP32.
  ov::element::Type precision = ov::element::f32;
  if (const std::string* text = parameters.Find("precision"); text != nullptr) {
    const std::string upper = UpperCase(*text);
    if (upper == "FP16" || upper == "BF16") {
      precision = upper == "FP16" ? ov::element::f16 : ov::element::bf16;
    } else if (upper != "FP32") {
      return reader.Wrong("precision", "FP32, FP16 or BF16");
    }
  }
  reader.Set(ov::hint::inference_precision(precision));
  if (const std::string* device = parameters.Find("device_type"); device != nullptr) {
    const std::string upper = UpperCase(*device);
    // Older names of devices contain the precision.
    settings->device = upper == "CPU_FP32" ? "CPU" : upper;
  }
  return {};
}

}  // namespace nereid::openvino
