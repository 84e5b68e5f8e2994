// SPDX-License-Identifier: Apache-2.0
#include "backend/backend_library.h"

#include "abi/plugin_library.h"

namespace nereid::backend {

base::Result<std::unique_ptr<BackendLibrary>> BackendLibrary::Open(const std::string& path) {
  NEREID_ASSIGN_OR_RETURN(auto shared, abi::OpenPlugin(path));
  BackendEntryPoints entry;
  shared->Find("TRITONBACKEND_Initialize", &entry.initialize);
  shared->Find("TRITONBACKEND_Finalize", &entry.finalize);
  shared->Find("TRITONBACKEND_GetBackendAttribute", &entry.attribute);
  shared->Find("TRITONBACKEND_ModelInitialize", &entry.model_initialize);
  shared->Find("TRITONBACKEND_ModelFinalize", &entry.model_finalize);
  shared->Find("TRITONBACKEND_ModelInstanceInitialize", &entry.instance_initialize);
  shared->Find("TRITONBACKEND_ModelInstanceFinalize", &entry.instance_finalize);
  shared->Find("TRITONBACKEND_ModelInstanceExecute", &entry.instance_execute);
  shared->Find("TRITONBACKEND_ModelInstanceReady", &entry.instance_ready);
  shared->Find("NEREIDBACKEND_ModelInstanceHasRoom", &entry.instance_has_room);
  shared->Find("NEREIDBACKEND_ModelPrepareThreads", &entry.prepare_threads);
  shared->Find("NEREIDBACKEND_ModelInstanceSetThreads", &entry.set_threads);
  shared->Find("NEREIDBACKEND_ModelTakeInputMemory", &entry.take_input_memory);
  shared->Find("NEREIDBACKEND_InputMemoryPrepare", &entry.prepare_input_memory);
  shared->Find("NEREIDBACKEND_InputMemoryFree", &entry.free_input_memory);
  shared->Find("NEREIDBACKEND_ModelInstancesShare", &entry.instances_share);
  if (entry.instance_execute == nullptr) {
    return base::Status::NotFound(
        "unable to find required entrypoint 'TRITONBACKEND_ModelInstanceExecute' in shared "
        "library " +
        path);
  }
  std::unique_ptr<BackendLibrary> library(new BackendLibrary());
  library->path_ = path;
  library->library_ = std::move(shared);
  library->entry_points_ = entry;
  return library;
}

std::unique_ptr<BackendLibrary> BackendLibrary::FromEntryPoints(std::string path,
                                                                BackendEntryPoints entry_points) {
  std::unique_ptr<BackendLibrary> library(new BackendLibrary());
  library->path_ = std::move(path);
  library->entry_points_ = entry_points;
  return library;
}

}  // namespace nereid::backend
