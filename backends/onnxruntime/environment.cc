// SPDX-License-Identifier: Apache-2.0
#include "onnxruntime/environment.h"

#include "nereid/backend/log.h"
#include "nereid/backend/model_config.h"
#include "onnxruntime/threads.h"

namespace nereid::onnxruntime {
namespace {

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

}  // namespace

Error Environment::Load(TRITONBACKEND_Backend* backend) {
  TRITONBACKEND_ArtifactType type = TRITONBACKEND_ARTIFACT_FILESYSTEM;
  const char* place = nullptr;
  NEREID_BACKEND_TRY(TRITONBACKEND_BackendArtifacts(backend, &type, &place));
  directory = place == nullptr ? "" : place;
  NEREID_BACKEND_TRY(OpenOnnxRuntime(directory));
  NEREID_BACKEND_TRY(backend::ReadBackendConfig(backend, &settings));
  NEREID_BACKEND_TRY(settings.ReadBool("enable-global-threadpool", &global_threads));
  OrtEnv* made = nullptr;
  if (global_threads) {
    Owned<OrtThreadingOptions> threading;
    NEREID_BACKEND_TRY(MakeGlobalThreads(settings, &threading));
    NEREID_ORT_TRY(Api().CreateEnvWithCustomLoggerAndGlobalThreadPools(
        WriteLog, nullptr, ORT_LOGGING_LEVEL_WARNING, "backend", threading.get(), &made));
  } else {
    NEREID_ORT_TRY(Api().CreateEnvWithCustomLogger(WriteLog, nullptr, ORT_LOGGING_LEVEL_WARNING,
                                                   "backend", &made));
  }
  env.reset(made);
  return {};
}

}  // namespace nereid::onnxruntime
