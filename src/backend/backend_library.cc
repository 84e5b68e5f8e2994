// SPDX-License-Identifier: Apache-2.0
#include "backend/backend_library.h"

namespace nereid::backend {

base::Result<std::unique_ptr<BackendLibrary>> BackendLibrary::Open(const std::string& path) {
  NEREID_ASSIGN_OR_RETURN(auto shared, base::SharedLibrary::Open(path));
  BackendEntryPoints entry;
  const auto find = [&](auto& pointer, const char* name) {
    pointer = reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(shared->Find(name));
  };
  find(entry.initialize, "TRITONBACKEND_Initialize");
  find(entry.finalize, "TRITONBACKEND_Finalize");
  find(entry.attribute, "TRITONBACKEND_GetBackendAttribute");
  find(entry.model_initialize, "TRITONBACKEND_ModelInitialize");
  find(entry.model_finalize, "TRITONBACKEND_ModelFinalize");
  find(entry.instance_initialize, "TRITONBACKEND_ModelInstanceInitialize");
  find(entry.instance_finalize, "TRITONBACKEND_ModelInstanceFinalize");
  find(entry.instance_execute, "TRITONBACKEND_ModelInstanceExecute");
  find(entry.instance_ready, "TRITONBACKEND_ModelInstanceReady");
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
