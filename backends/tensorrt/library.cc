// SPDX-License-Identifier: Apache-2.0
#include "tensorrt/library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "base/mutex.h"
#include "nereid/backend/log.h"
#include "tensorrt/logger.h"
#include "tensorrt/nv_version.h"

namespace nereid::tensorrt {
namespace {

/// The names of the runtimes without ".so" and version, and of the library with TensorRT's plugins
/// that belongs to each.
constexpr struct {
  const char* runtime;
  const char* plugins;
} kNames[] = {{"libnvinfer", "libnvinfer_plugin"},
              {"libnvinfer_lean", "libnvinfer_vc_plugin"},
              {"libnvinfer_dispatch", "libnvinfer_vc_plugin"}};

std::string FileName(const char* name) {
  return std::string(name) + ".so." + std::to_string(NV_TENSORRT_MAJOR);
}

struct Candidate {
  std::string runtime;
  std::string plugins;
};

std::vector<Candidate> Candidates(const std::string& directory) {
  if (const char* named = std::getenv("NEREID_TENSORRT_LIBRARY");
      named != nullptr && *named != '\0') {
    return {{named, ""}};
  }
  std::vector<Candidate> candidates;
  for (const auto& [runtime, plugins] : kNames) {
    std::error_code ignored;
    const std::string path = directory + "/" + FileName(runtime);
    if (!directory.empty() && std::filesystem::exists(path, ignored)) {
      candidates.push_back({path, directory + "/" + FileName(plugins)});
    }
  }
  for (const auto& [runtime, plugins] : kNames) {
    candidates.push_back({FileName(runtime), FileName(plugins)});
  }
  return candidates;
}

int32_t MajorOf(int32_t version) { return version < 10000 ? version / 1000 : version / 10000; }
int32_t MinorOf(int32_t version) {
  return version < 10000 ? version / 100 % 10 : version / 100 % 100;
}

/// Registers the plugins that come with TensorRT. Most plans need none of them.
void OpenOwnPlugins(const std::string& path) {
  void* library = path.empty() ? nullptr : dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  const auto init =
      library == nullptr
          ? nullptr
          : reinterpret_cast<bool (*)(void*, const char*)>(dlsym(library, "initLibNvInferPlugins"));
  if (init == nullptr) {
    NEREID_BACKEND_LOG(VERBOSE, "TensorRT's own plugins are missing: " + path);
  } else if (!init(&Logger::Get(), "")) {
    NEREID_BACKEND_LOG(WARN, "TensorRT's own plugins of " + path + " cannot be registered");
  }
}

}  // namespace

std::string VersionText(int32_t version) {
  return std::to_string(MajorOf(version)) + "." + std::to_string(MinorOf(version)) + "." +
         std::to_string(version % 100);
}

std::string WhyUnfit(int32_t library, int32_t headers) {
  if (MajorOf(library) == MajorOf(headers) && MinorOf(library) >= MinorOf(headers)) {
    return "";
  }
  return "it is TensorRT " + VersionText(library) +
         ", but this plug-in was compiled for TensorRT " + std::to_string(MajorOf(headers)) + "." +
         std::to_string(MinorOf(headers)) + " or newer of the same major version";
}

Error TensorRtLibrary::Get(const std::string& directory, const TensorRtLibrary** library) {
  static base::Mutex mutex;  // guards no member, but `opened`
  static TensorRtLibrary* opened = nullptr;
  const base::MutexLock lock(mutex);
  if (opened != nullptr) {
    *library = opened;
    return {};
  }
  std::string reasons;
  TRITONSERVER_Error_Code code = TRITONSERVER_ERROR_NOT_FOUND;
  for (const Candidate& candidate : Candidates(directory)) {
    auto tried = std::make_unique<TensorRtLibrary>();
    if (const Error error = tried->Open(candidate.runtime); !error.ok()) {
      reasons += "\n  " + error.message();
      code = TRITONSERVER_ErrorCode(error.get());
      continue;
    }
    OpenOwnPlugins(candidate.plugins);
    *library = opened = tried.release();
    return {};
  }
  return {code, "TensorRT cannot be opened; install NVIDIA's package libnvinfer" +
                    std::to_string(NV_TENSORRT_MAJOR) + ", or put " + FileName("libnvinfer") +
                    " into " + directory + ". Tried:" + reasons};
}

Error TensorRtLibrary::Open(const std::string& path) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return {TRITONSERVER_ERROR_NOT_FOUND, dlerror()};
  }
  const auto version = reinterpret_cast<int32_t (*)()>(dlsym(library, "getInferLibVersion"));
  make_runtime_ =
      reinterpret_cast<void* (*)(void*, int32_t)>(dlsym(library, "createInferRuntime_INTERNAL"));
  std::string unfit = "it is not a runtime of TensorRT";
  if (version != nullptr && make_runtime_ != nullptr) {
    unfit = WhyUnfit(version(), NV_TENSORRT_VERSION);
  }
  if (!unfit.empty()) {
    dlclose(library);
    return Error::Unsupported(path + ": " + unfit);
  }
  path_ = path;
  NEREID_BACKEND_LOG(INFO, "TensorRT " + VersionText(version()) + " from " + path);
  return {};
}

Error TensorRtLibrary::OpenPlugin(const std::string& path) const {
  return dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr
             ? Error()
             : Error::InvalidArgument(
                   "the TensorRT plugin '" + path +
                   "' (--backend-config=tensorrt,plugins) cannot be opened: " + dlerror());
}

Error TensorRtLibrary::MakeRuntime(std::unique_ptr<nvinfer1::IRuntime>* runtime) const {
  Logger::Forget();
  void* const made = make_runtime_(&Logger::Get(), NV_TENSORRT_VERSION);
  // Where TensorRT cannot use the driver, it logs an error and returns null or a small number. An
  // error in the log alone is none: TensorRT also reports things that it can do without.
  constexpr uintptr_t kLeastAddress = 4096;
  if (reinterpret_cast<uintptr_t>(made) < kLeastAddress) {
    return Error(TRITONSERVER_ERROR_UNAVAILABLE,
                 "TensorRT cannot start" + Logger::Reason() +
                     "; is the CUDA driver as new as this TensorRT needs?");
  }
  runtime->reset(static_cast<nvinfer1::IRuntime*>(made));
  return {};
}

}  // namespace nereid::tensorrt
