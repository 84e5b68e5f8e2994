// SPDX-License-Identifier: Apache-2.0
#include "onnxruntime/session.h"

#include <onnxruntime_run_options_config_keys.h>
#include <onnxruntime_session_options_config_keys.h>
#include <sched.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <thread>

#include "nereid/backend/log.h"

namespace nereid::onnxruntime {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMostThreads = 4096;

void ORT_API_CALL WriteLog(void*, OrtLoggingLevel severity, const char*, const char*,
                           const char* location, const char* message) {
  const Error ignored = backend::Catching([&]() -> Error {
    const std::string text = std::string("onnx runtime: ") + message + " (" + location + ")";
    if (severity >= ORT_LOGGING_LEVEL_ERROR) {
      NEREID_BACKEND_LOG(ERROR, text);
    } else if (severity == ORT_LOGGING_LEVEL_WARNING) {
      NEREID_BACKEND_LOG(WARN, text);
    } else {
      NEREID_BACKEND_LOG(VERBOSE, text);
    }
    return {};
  });
}

/// The processors that this process may use.
int64_t UsableProcessors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 0) {
    return CPU_COUNT(&set);
  }
  return std::max<int64_t>(1, std::thread::hardware_concurrency());
}

Error SetThreads(const Environment& environment, const ModelConfig& config,
                 OrtSessionOptions* options) {
  if (environment.global_threads) {
    return ToError(Api().DisablePerSessionThreads(options));
  }
  bool shared = true;
  NEREID_BACKEND_TRY(SharesSession(config, &shared));
  // One pool may use the whole machine; pools of their own divide it.
  int64_t intra = std::max<int64_t>(1, UsableProcessors() / (shared ? 1 : config.instance_count));
  int64_t inter = 0;
  for (const Parameters* settings : {&environment.settings, &config.parameters}) {
    NEREID_BACKEND_TRY(settings->ReadInt("intra_op_thread_count", 0, kMostThreads, &intra));
    NEREID_BACKEND_TRY(settings->ReadInt("inter_op_thread_count", 0, kMostThreads, &inter));
  }
  NEREID_ORT_TRY(Api().SetIntraOpNumThreads(options, static_cast<int>(intra)));
  NEREID_ORT_TRY(Api().SetInterOpNumThreads(options, static_cast<int>(inter)));
  // A pool that spins while it waits burns a processor between requests.
  for (const char* key : {kOrtSessionOptionsConfigAllowIntraOpSpinning,
                          kOrtSessionOptionsConfigAllowInterOpSpinning}) {
    NEREID_ORT_TRY(Api().AddSessionConfigEntry(options, key, "0"));
  }
  return {};
}

Error SetGraphLevel(const ModelConfig& config, OrtSessionOptions* options) {
  GraphOptimizationLevel level = ORT_ENABLE_ALL;
  switch (config.graph_level.value_or(0)) {
    case -1:
      level = ORT_ENABLE_BASIC;
      break;
    case 0:
      break;
    case 1:
      level = ORT_ENABLE_EXTENDED;
      break;
    case 2:
      level = ORT_DISABLE_ALL;
      break;
    default:
      return Error::InvalidArgument("model '" + config.name + "': optimization.graph.level is " +
                                    std::to_string(*config.graph_level) +
                                    ", but must be -1 (basic), 0 (all), 1 (extended) or 2 (none)");
  }
  return ToError(Api().SetSessionGraphOptimizationLevel(options, level));
}

Error SetMemory(const ModelConfig& config, OrtSessionOptions* options) {
  bool arena = true;
  bool pattern = true;
  NEREID_BACKEND_TRY(config.parameters.ReadBool("enable_mem_arena", &arena));
  NEREID_BACKEND_TRY(config.parameters.ReadBool("enable_mem_pattern", &pattern));
  NEREID_ORT_TRY(arena ? Api().EnableCpuMemArena(options) : Api().DisableCpuMemArena(options));
  return ToError(pattern ? Api().EnableMemPattern(options) : Api().DisableMemPattern(options));
}

Error SetExecutionMode(const ModelConfig& config, OrtSessionOptions* options) {
  int64_t mode = 0;
  NEREID_BACKEND_TRY(config.parameters.ReadInt("execution_mode", 0, 1, &mode));
  return ToError(Api().SetSessionExecutionMode(options, mode == 1 ? ORT_PARALLEL : ORT_SEQUENTIAL));
}

/// Parameters in ONNX Runtime's own words ("session.…") go to it as they are.
Error PassEntries(const ModelConfig& config, OrtSessionOptions* options) {
  for (const auto& [key, value] : config.parameters.values()) {
    for (const std::string_view prefix : {"session.", "optimization.", "mlas.", "ep."}) {
      if (key.starts_with(prefix)) {
        NEREID_ORT_TRY(Api().AddSessionConfigEntry(options, key.c_str(), value.c_str()));
      }
    }
  }
  return {};
}

Error CheckAccelerators(const ModelConfig& config) {
  if (!config.cpu_accelerators.empty()) {
    return Error::Unsupported("model '" + config.name + "': the execution accelerator '" +
                              config.cpu_accelerators[0] +
                              "' is not available in this ONNX Runtime; remove it from "
                              "optimization.execution_accelerators.cpu_execution_accelerator");
  }
  for (const std::string& name : config.gpu_accelerators) {
    NEREID_BACKEND_LOG(WARN, "model '" + config.name + "': the GPU execution accelerator '" + name +
                                 "' is left aside, the model runs on the CPU");
  }
  return {};
}

Error RegisterOperators(const ModelConfig& config, OrtSessionOptions* options) {
  for (const std::string& library : config.op_libraries) {
    const fs::path path = fs::path(config.directory) / library;
    NEREID_ORT_TRY(Api().RegisterCustomOpsLibrary_V2(options, path.c_str()));
  }
  return {};
}

}  // namespace

Error CreateEnvironment(Parameters settings, Environment* environment) {
  environment->settings = std::move(settings);
  const Parameters& given = environment->settings;
  NEREID_BACKEND_TRY(given.ReadBool("enable-global-threadpool", &environment->global_threads));
  OrtEnv* env = nullptr;
  if (environment->global_threads) {
    int64_t intra = 0;
    int64_t inter = 0;
    NEREID_BACKEND_TRY(given.ReadInt("intra_op_thread_count", 0, kMostThreads, &intra));
    NEREID_BACKEND_TRY(given.ReadInt("inter_op_thread_count", 0, kMostThreads, &inter));
    OrtThreadingOptions* threading = nullptr;
    NEREID_ORT_TRY(Api().CreateThreadingOptions(&threading));
    const Owned<OrtThreadingOptions> owner(threading);
    NEREID_ORT_TRY(Api().SetGlobalIntraOpNumThreads(threading, static_cast<int>(intra)));
    NEREID_ORT_TRY(Api().SetGlobalInterOpNumThreads(threading, static_cast<int>(inter)));
    NEREID_ORT_TRY(Api().SetGlobalSpinControl(threading, 0));
    NEREID_ORT_TRY(Api().CreateEnvWithCustomLoggerAndGlobalThreadPools(
        WriteLog, nullptr, ORT_LOGGING_LEVEL_WARNING, "backend", threading, &env));
  } else {
    NEREID_ORT_TRY(Api().CreateEnvWithCustomLogger(WriteLog, nullptr, ORT_LOGGING_LEVEL_WARNING,
                                                   "backend", &env));
  }
  environment->env.reset(env);
  return {};
}

Error SharesSession(const ModelConfig& config, bool* shares) {
  *shares = true;
  return config.parameters.ReadBool("share_session_between_instances", shares);
}

Error FindModelFile(const ModelConfig& config, std::string* path) {
  const fs::path name =
      config.default_model_filename.empty() ? "model.onnx" : config.default_model_filename;
  if (name.is_absolute() || std::find(name.begin(), name.end(), "..") != name.end()) {
    return Error::InvalidArgument("model '" + config.name + "': default_model_filename '" +
                                  name.string() + "' leads out of the version's folder");
  }
  fs::path file = fs::path(config.directory) / std::to_string(config.version) / name;
  std::error_code failure;
  if (fs::is_directory(file, failure)) {
    const fs::path same = file / name.filename();
    file = fs::is_regular_file(same, failure) ? same : file / "model.onnx";
  }
  if (!fs::is_regular_file(file, failure)) {
    return Error(TRITONSERVER_ERROR_UNAVAILABLE,
                 "unable to find '" + file.string() + "' for model '" + config.name + "'");
  }
  *path = file.string();
  return {};
}

Error CreateSession(const Environment& environment, const ModelConfig& config,
                    Owned<OrtSession>* session) {
  std::string path;
  NEREID_BACKEND_TRY(FindModelFile(config, &path));
  NEREID_BACKEND_TRY(CheckAccelerators(config));
  OrtSessionOptions* options = nullptr;
  NEREID_ORT_TRY(Api().CreateSessionOptions(&options));
  const Owned<OrtSessionOptions> owner(options);
  NEREID_ORT_TRY(Api().SetSessionLogId(options, config.name.c_str()));
  NEREID_BACKEND_TRY(SetThreads(environment, config, options));
  NEREID_BACKEND_TRY(SetGraphLevel(config, options));
  NEREID_BACKEND_TRY(SetMemory(config, options));
  NEREID_BACKEND_TRY(SetExecutionMode(config, options));
  NEREID_BACKEND_TRY(PassEntries(config, options));
  NEREID_BACKEND_TRY(RegisterOperators(config, options));
  OrtSession* created = nullptr;
  NEREID_ORT_TRY(Api().CreateSession(environment.env.get(), path.c_str(), options, &created));
  session->reset(created);
  return {};
}

Error CreateRunOptions(const ModelConfig& config, Owned<OrtRunOptions>* options) {
  OrtRunOptions* created = nullptr;
  NEREID_ORT_TRY(Api().CreateRunOptions(&created));
  options->reset(created);
  // The client of a failed run gets its reason; in the log, bad requests would only be noise.
  NEREID_ORT_TRY(Api().RunOptionsSetRunLogSeverityLevel(created, ORT_LOGGING_LEVEL_FATAL));
  if (const std::string* shrink = config.parameters.Find("memory.enable_memory_arena_shrinkage")) {
    NEREID_ORT_TRY(Api().AddRunConfigEntry(created, kOrtRunOptionsConfigEnableMemoryArenaShrinkage,
                                           shrink->c_str()));
  }
  return {};
}

}  // namespace nereid::onnxruntime
