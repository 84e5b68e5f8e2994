// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnxruntime_c_api.h>

#include <memory>
#include <string>

#include "nereid/backend/error.h"

namespace nereid::onnxruntime {

using backend::Error;

/// Opens ONNX Runtime's library and looks up its function table. Later calls in the same process do
/// nothing. The library is searched for in this order: the file in the environment variable
/// NEREID_ONNXRUNTIME_LIBRARY; libonnxruntime.so.1 and libonnxruntime.so in `directory` (that of
/// the backend) and in the directory onnxruntime beside it; libonnxruntime.so.1 on the loader's
/// search path. It is never unloaded. NOT_FOUND with the reasons if no file can be used.
/// Thread-safe.
Error OpenOnnxRuntime(const std::string& directory);

/// Returns the function table. OpenOnnxRuntime must have succeeded.
const OrtApi& Api();

/// Converts a status of the C API, and releases it; null means success.
Error ToError(OrtStatus* status);

/// Releases an object of the C API.
struct Release {
  void operator()(OrtEnv* object) const { Api().ReleaseEnv(object); }
  void operator()(OrtSession* object) const { Api().ReleaseSession(object); }
  void operator()(OrtSessionOptions* object) const { Api().ReleaseSessionOptions(object); }
  void operator()(OrtRunOptions* object) const { Api().ReleaseRunOptions(object); }
  void operator()(OrtThreadingOptions* object) const { Api().ReleaseThreadingOptions(object); }
  void operator()(OrtMemoryInfo* object) const { Api().ReleaseMemoryInfo(object); }
  void operator()(OrtValue* object) const { Api().ReleaseValue(object); }
  void operator()(OrtTypeInfo* object) const { Api().ReleaseTypeInfo(object); }
  void operator()(OrtTensorTypeAndShapeInfo* object) const {
    Api().ReleaseTensorTypeAndShapeInfo(object);
  }
  void operator()(OrtIoBinding* object) const { Api().ReleaseIoBinding(object); }
  void operator()(OrtCUDAProviderOptionsV2* object) const {
    Api().ReleaseCUDAProviderOptions(object);
  }
  void operator()(OrtTensorRTProviderOptionsV2* object) const {
    Api().ReleaseTensorRTProviderOptions(object);
  }
};

template <typename T>
using Owned = std::unique_ptr<T, Release>;

}  // namespace nereid::onnxruntime

/// Returns from the enclosing function, which must return Error, if a call of the C API fails.
#define NEREID_ORT_TRY(call) NEREID_BACKEND_TRY(::nereid::onnxruntime::ToError(call))
