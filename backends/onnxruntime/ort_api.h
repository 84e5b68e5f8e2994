// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnxruntime_c_api.h>

#include <memory>
#include <string>

#include "nereid/backend/error.h"

namespace nereid::onnxruntime {

using backend::Error;

/// Opens ONNX Runtime's library and finds its function table, once per process; later calls do
/// nothing. Looked for, in this order: the file that the environment variable
/// NEREID_ONNXRUNTIME_LIBRARY names; libonnxruntime.so.1 and libonnxruntime.so in `directory` (the
/// backend's own) and in the folder onnxruntime beside it; libonnxruntime.so.1 where the loader
/// looks. Never unloaded.
Error OpenOnnxRuntime(const std::string& directory);

/// The function table. OpenOnnxRuntime must have succeeded.
const OrtApi& Api();

/// Takes over a status; null is success.
Error ToError(OrtStatus* status);

/// Deletes an object of the C API.
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
};

template <typename T>
using Owned = std::unique_ptr<T, Release>;

}  // namespace nereid::onnxruntime

/// Returns from the enclosing function, whose type is Error, when a call of the C API fails.
#define NEREID_ORT_TRY(call) NEREID_BACKEND_TRY(::nereid::onnxruntime::ToError(call))
