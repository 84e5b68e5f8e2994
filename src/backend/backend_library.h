// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "base/shared_library.h"
#include "nereid/backend/cpu_threads.h"
#include "nereid/backend/input_memory.h"
#include "nereid/backend_room.h"
#include "triton/core/tritonbackend.h"

namespace nereid::backend {

/// The entry points of a backend library; null if the library lacks one. `instance_execute` is
/// never null.
struct BackendEntryPoints {
  decltype(&TRITONBACKEND_Initialize) initialize = nullptr;
  decltype(&TRITONBACKEND_Finalize) finalize = nullptr;
  decltype(&TRITONBACKEND_GetBackendAttribute) attribute = nullptr;
  decltype(&TRITONBACKEND_ModelInitialize) model_initialize = nullptr;
  decltype(&TRITONBACKEND_ModelFinalize) model_finalize = nullptr;
  decltype(&TRITONBACKEND_ModelInstanceInitialize) instance_initialize = nullptr;
  decltype(&TRITONBACKEND_ModelInstanceFinalize) instance_finalize = nullptr;
  decltype(&TRITONBACKEND_ModelInstanceExecute) instance_execute = nullptr;
  decltype(&TRITONBACKEND_ModelInstanceReady) instance_ready = nullptr;
  decltype(&NEREIDBACKEND_ModelInstanceHasRoom) instance_has_room = nullptr;
  decltype(&NEREIDBACKEND_ModelPrepareThreads) prepare_threads = nullptr;
  decltype(&NEREIDBACKEND_ModelInstanceSetThreads) set_threads = nullptr;
  decltype(&NEREIDBACKEND_ModelTakeInputMemory) take_input_memory = nullptr;
  decltype(&NEREIDBACKEND_InputMemoryPrepare) prepare_input_memory = nullptr;
  decltype(&NEREIDBACKEND_InputMemoryFree) free_input_memory = nullptr;
  decltype(&NEREIDBACKEND_ModelInstancesShare) instances_share = nullptr;
};

/// A backend's shared library with its entry points.
class BackendLibrary {
 public:
  /// Opens a library. Returns NOT_FOUND if it cannot be opened or lacks the required entry point.
  static base::Result<std::unique_ptr<BackendLibrary>> Open(const std::string& path);

  /// Returns a library that is linked into the program; for tests.
  static std::unique_ptr<BackendLibrary> FromEntryPoints(std::string path,
                                                         BackendEntryPoints entry_points);

  const std::string& path() const { return path_; }
  const BackendEntryPoints& entry_points() const { return entry_points_; }

 private:
  BackendLibrary() = default;
  std::string path_;
  std::unique_ptr<base::SharedLibrary> library_;
  BackendEntryPoints entry_points_;
};

}  // namespace nereid::backend
