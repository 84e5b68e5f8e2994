// SPDX-License-Identifier: Apache-2.0
#include "onnxruntime/session_options.h"

#include <filesystem>
#include <string_view>

#include "nereid/backend/log.h"
#include "onnxruntime/accelerators.h"
#include "onnxruntime/threads.h"

namespace nereid::onnxruntime {
namespace {

namespace fs = std::filesystem;

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
  for (const char* name : {"enable_mem_arena", "enable_mem_pattern"}) {
    LogConfiguring(config, name);
  }
  NEREID_ORT_TRY(arena ? Api().EnableCpuMemArena(options) : Api().DisableCpuMemArena(options));
  return ToError(pattern ? Api().EnableMemPattern(options) : Api().DisableMemPattern(options));
}

Error SetExecutionMode(const ModelConfig& config, OrtSessionOptions* options) {
  int64_t mode = 0;
  NEREID_BACKEND_TRY(config.parameters.ReadInt("execution_mode", 0, 1, &mode));
  return ToError(Api().SetSessionExecutionMode(options, mode == 1 ? ORT_PARALLEL : ORT_SEQUENTIAL));
}

/// Passes parameters with ONNX Runtime's own names ("session.…") to it unchanged.
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

Error RegisterOperators(const ModelConfig& config, OrtSessionOptions* options) {
  for (const std::string& library : config.op_libraries) {
    std::string path;
    NEREID_BACKEND_TRY(FindOperatorLibrary(config, library, &path));
    if (const Error error = ToError(Api().RegisterCustomOpsLibrary_V2(options, path.c_str()));
        !error.ok()) {
      return Error::InvalidArgument("model '" + config.name +
                                    "': model_operations.op_library_filename '" + library +
                                    "' cannot be used: " + error.message());
    }
  }
  return {};
}

}  // namespace

void LogConfiguring(const ModelConfig& config, const std::string& name) {
  if (const std::string* value = config.parameters.Find(name); value != nullptr) {
    NEREID_BACKEND_LOG(VERBOSE, "Configuring " + name + " to " + *value);
  }
}

Error FindOperatorLibrary(const ModelConfig& config, const std::string& name, std::string* path) {
  const fs::path model(config.directory);
  std::string tried;
  for (const fs::path& candidate :
       {model / std::to_string(config.version) / name, model / name, fs::path(name)}) {
    std::error_code ignored;
    if (!name.empty() && fs::is_regular_file(candidate, ignored)) {
      *path = candidate.string();
      return {};
    }
    if (tried.find("'" + candidate.string() + "'") == std::string::npos) {
      tried += (tried.empty() ? "'" : ", '") + candidate.string() + "'";
    }
  }
  return Error(TRITONSERVER_ERROR_NOT_FOUND, "model '" + config.name +
                                                 "': model_operations.op_library_filename '" +
                                                 name + "' is not there; tried " + tried);
}

Error MakeSessionOptions(const Environment& environment, const ModelConfig& config,
                         framework::Placement placement, std::optional<uint32_t> threads,
                         Owned<OrtSessionOptions>* options) {
  OrtSessionOptions* made = nullptr;
  NEREID_ORT_TRY(Api().CreateSessionOptions(&made));
  options->reset(made);
  NEREID_ORT_TRY(Api().SetSessionLogId(made, config.name.c_str()));
  NEREID_BACKEND_TRY(
      threads ? SetVariedThreads(*threads, made)
              : SetThreads(environment.settings, environment.global_threads, config, made));
  NEREID_BACKEND_TRY(SetGraphLevel(config, made));
  NEREID_BACKEND_TRY(SetMemory(config, made));
  NEREID_BACKEND_TRY(SetExecutionMode(config, made));
  NEREID_BACKEND_TRY(PassEntries(config, made));
  NEREID_BACKEND_TRY(RegisterOperators(config, made));
  return SetAccelerators(config, placement, made);
}

}  // namespace nereid::onnxruntime
