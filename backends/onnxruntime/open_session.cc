// SPDX-License-Identifier: Apache-2.0
#include "onnxruntime/open_session.h"

#include <onnxruntime_run_options_config_keys.h>

#include "framework/version_file.h"
#include "onnxruntime/session_options.h"

namespace nereid::onnxruntime {

namespace fs = std::filesystem;

Error FindModelFile(const ModelConfig& config, std::string* path) {
  fs::path file;
  NEREID_BACKEND_TRY(framework::FindVersionFile(config, "model.onnx", &file));
  std::error_code failure;
  if (fs::is_directory(file, failure)) {
    const fs::path same = file / file.filename();
    file = fs::is_regular_file(same, failure) ? same : file / "model.onnx";
  }
  if (!fs::is_regular_file(file, failure)) {
    return framework::MissingFile(config, file);
  }
  *path = file.string();
  return {};
}

Error OpenModelFile(const ModelConfig& config, ModelSource* source) {
  return FindModelFile(config, &source->path);
}

Error CreateSession(const Environment& environment, const ModelConfig& config,
                    const ModelSource& source, framework::Placement placement,
                    std::optional<uint32_t> threads, Owned<OrtSession>* session) {
  if (placement.on_gpu() && !environment.cuda_problem.empty()) {
    return Error(TRITONSERVER_ERROR_UNAVAILABLE,
                 "model '" + config.name + "': ONNX Runtime cannot use GPU " +
                     std::to_string(placement.gpu) + ": " + environment.cuda_problem +
                     "; or set the instance group's kind to KIND_CPU");
  }
  Owned<OrtSessionOptions> options;
  NEREID_BACKEND_TRY(MakeSessionOptions(environment, config, placement, threads, &options));
  OrtSession* created = nullptr;
  OrtEnv* env = environment.env.get();
  if (!source.path.empty()) {
    NEREID_ORT_TRY(Api().CreateSession(env, source.path.c_str(), options.get(), &created));
  } else if (const Error error = ToError(Api().CreateSessionFromArray(
                 env, source.bytes.data(), source.bytes.size(), options.get(), &created));
             !error.ok()) {
    return Error(TRITONSERVER_ErrorCode(error.get()),
                 "model '" + config.name + "': '" + source.origin + "': " + error.message());
  }
  session->reset(created);
  return {};
}

Error CreateRunOptions(const ModelConfig& config, Owned<OrtRunOptions>* options) {
  OrtRunOptions* created = nullptr;
  NEREID_ORT_TRY(Api().CreateRunOptions(&created));
  options->reset(created);
  // The client of a failed run receives the reason, so logging it as well would only fill the log.
  NEREID_ORT_TRY(Api().RunOptionsSetRunLogSeverityLevel(created, ORT_LOGGING_LEVEL_FATAL));
  constexpr const char* kShrink = "memory.enable_memory_arena_shrinkage";
  const std::string* shrink = config.parameters.Find(kShrink);
  LogConfiguring(config, kShrink);
  if (shrink != nullptr && !shrink->empty()) {
    bool arena = true;
    NEREID_BACKEND_TRY(config.parameters.ReadBool("enable_mem_arena", &arena));
    if (!arena) {  // otherwise each run would fail
      return Error::InvalidArgument("model '" + config.name +
                                    "': parameter 'memory.enable_memory_arena_shrinkage' is '" +
                                    *shrink + "', but 'enable_mem_arena' switches the arena off");
    }
    NEREID_ORT_TRY(Api().AddRunConfigEntry(created, kOrtRunOptionsConfigEnableMemoryArenaShrinkage,
                                           shrink->c_str()));
  }
  return {};
}

}  // namespace nereid::onnxruntime
