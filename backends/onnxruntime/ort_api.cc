// SPDX-License-Identifier: Apache-2.0
#include "onnxruntime/ort_api.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "base/mutex.h"
#include "framework/division_trap.h"
#include "nereid/backend/log.h"

namespace nereid::onnxruntime {
namespace {

const OrtApi* api = nullptr;

/// Adds the library of the Python package onnxruntime, if this plug-in is part of the package
/// nereid and both are installed in one folder: its name ends in the whole version.
void AddOfPackage(const std::string& directory, std::vector<std::string>* paths) {
  std::error_code error;
  const std::filesystem::path folder =
      std::filesystem::path(directory) / "../../../onnxruntime/capi";
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().filename().string().starts_with("libonnxruntime.so.")) {
      paths->push_back(entry->path().string());
    }
  }
}

std::vector<std::string> Candidates(const std::string& directory) {
  if (const char* named = std::getenv("NEREID_ONNXRUNTIME_LIBRARY");
      named != nullptr && *named != '\0') {
    return {named};
  }
  std::vector<std::string> paths;
  for (const char* name : {"/libonnxruntime.so.1", "/libonnxruntime.so"}) {
    for (const std::string& folder : {directory, directory + "/../onnxruntime"}) {
      std::error_code ignored;
      if (!directory.empty() && std::filesystem::exists(folder + name, ignored)) {
        paths.push_back(folder + name);
      }
    }
  }
  AddOfPackage(directory, &paths);
  paths.push_back("libonnxruntime.so.1");
  return paths;
}

}  // namespace

const OrtApi& Api() { return *api; }

Error ToError(OrtStatus* status) {
  if (status == nullptr) {
    return {};
  }
  const OrtErrorCode code = api->GetErrorCode(status);
  // A wrong shape or type is an error of the client. All others are errors of the model or the
  // server.
  Error error(
      code == ORT_INVALID_ARGUMENT ? TRITONSERVER_ERROR_INVALID_ARG : TRITONSERVER_ERROR_INTERNAL,
      "onnx runtime error " + std::to_string(code) + ": " + api->GetErrorMessage(status));
  api->ReleaseStatus(status);
  return error;
}

Error OpenOnnxRuntime(const std::string& directory) {
  static base::Mutex mutex;  // guards no member: `api` is read without a lock after it is set
  const base::MutexLock lock(mutex);
  if (api != nullptr) {
    return {};
  }
  std::string reasons;
  for (const std::string& path : Candidates(directory)) {
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      reasons += std::string("\n  ") + dlerror();
      continue;
    }
    const auto base = reinterpret_cast<const OrtApiBase* (*)()>(dlsym(library, "OrtGetApiBase"));
    const OrtApi* found = base == nullptr ? nullptr : base()->GetApi(ORT_API_VERSION);
    if (found != nullptr) {
      NEREID_BACKEND_LOG(
          INFO, "ONNX Runtime " + std::string(base()->GetVersionString()) + " from " + path);
      // Integer Div and Mod check for a divisor of 0 only (see division_trap.h).
      framework::LetOverflowsPass(reinterpret_cast<const void*>(base));
      api = found;
      return {};
    }
    reasons += "\n  " + path + ": " +
               (base == nullptr ? std::string("is not ONNX Runtime")
                                : std::string(base()->GetVersionString()) + " is too old, 1." +
                                      std::to_string(ORT_API_VERSION) + " or newer is needed");
    dlclose(library);
  }
  return Error(TRITONSERVER_ERROR_NOT_FOUND,
               "the ONNX Runtime library cannot be opened; install it (for Nereid's wheel: pip "
               "install nereid[onnxruntime]), put libonnxruntime.so.1 into " +
                   directory + ", or name it in NEREID_ONNXRUNTIME_LIBRARY. Tried:" + reasons);
}

}  // namespace nereid::onnxruntime
