// SPDX-License-Identifier: Apache-2.0
#include "onnxruntime/environment.h"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <vector>

#include "framework/placement.h"
#include "nereid/backend/log.h"
#include "nereid/backend/model_config.h"
#include "onnxruntime/accelerators.h"
#include "onnxruntime/threads.h"

namespace nereid::onnxruntime {
namespace {

/// While it is set, receives the errors that ONNX Runtime logs on this thread.
thread_local std::string* logged_errors = nullptr;

void ORT_API_CALL WriteLog(void*, OrtLoggingLevel severity, const char*, const char*,
                           const char* location, const char* message) {
  const Error ignored = backend::Catching([&]() -> Error {
    if (logged_errors != nullptr && severity >= ORT_LOGGING_LEVEL_ERROR) {
      *logged_errors += (logged_errors->empty() ? "" : "; ") + std::string(message);
      return {};
    }
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

/// Returns the part of an error of ONNX Runtime that says what is wrong.
std::string Reason(std::string text) {
  constexpr std::string_view kMark = " : FAIL : ";
  if (const size_t mark = text.rfind(kMark); mark != std::string::npos) {
    text.erase(0, mark + kMark.size());
  }
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) {
    text.pop_back();
  }
  return text;
}

/// Opens the CUDA execution provider and its libraries. Returns the reason if this fails.
std::string TryCuda() {
  std::string reason;
  logged_errors = &reason;
  const Error failure = backend::Catching([]() -> Error {
    OrtSessionOptions* made = nullptr;
    NEREID_ORT_TRY(Api().CreateSessionOptions(&made));
    const Owned<OrtSessionOptions> options(made);
    return AppendProvider({"CUDA", {{"device_id", "0"}}}, made);
  });
  logged_errors = nullptr;
  if (failure.ok()) {
    return "";
  }
  return Reason(reason.empty() ? failure.message() : reason);
}

/// Opens the libraries of CUDA and cuDNN that are in the folder `nvidia` of the backend, as pip
/// installs them, so that the provider finds them. Those that need others are tried again.
void OpenCudaLibraries(const std::string& directory) {
  namespace fs = std::filesystem;
  std::error_code failure;
  std::vector<fs::path> libraries;
  for (fs::recursive_directory_iterator file(fs::path(directory) / "nvidia", failure), end;
       !failure && file != end; file.increment(failure)) {
    if (file->path().filename().string().find(".so") != std::string::npos) {
      libraries.push_back(file->path());
    }
  }
  for (size_t before = libraries.size() + 1; libraries.size() < before;) {
    before = libraries.size();
    libraries.erase(std::remove_if(libraries.begin(), libraries.end(),
                                   [](const fs::path& library) {
                                     return dlopen(library.c_str(), RTLD_LAZY | RTLD_GLOBAL) !=
                                            nullptr;
                                   }),
                    libraries.end());
  }
}

/// Returns why this ONNX Runtime cannot use GPUs, or an empty string. Opens nothing if the machine
/// has no GPU or the library is the one for the CPU.
std::string FindCudaProblem(const std::string& directory) {
  std::string problem = framework::DriverProblem();
  if (!problem.empty()) {
    return problem;
  }
  std::vector<std::string> available;
  if (const Error error = AvailableProviders(&available); !error.ok()) {
    return error.message();
  }
  if (std::find(available.begin(), available.end(), "CUDAExecutionProvider") == available.end()) {
    return "this library has no CUDA execution provider; install the library of onnxruntime-gpu "
           "(tools/fetch_onnxruntime.sh --gpu)";
  }
  OpenCudaLibraries(directory);
  problem = TryCuda();
  if (!problem.empty()) {
    problem = "its CUDA execution provider cannot be opened: " + problem +
              "; install what is missing (CUDA 13, cuDNN 9, onnxruntime-gpu)";
    NEREID_BACKEND_LOG(WARN, "ONNX Runtime uses no GPU: " + problem);
  }
  return problem;
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
  cuda_problem = FindCudaProblem(directory);
  return {};
}

}  // namespace nereid::onnxruntime
