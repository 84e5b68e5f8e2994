// SPDX-License-Identifier: Apache-2.0
// TRITONBACKEND_Backend*, TRITONBACKEND_MemoryManager* and TRITONBACKEND_BackendAttribute*.
#include "abi/error.h"
#include "backend/backend.h"

using nereid::abi::Guard;
using nereid::backend::Backend;
using nereid::backend::BackendAttributes;
using nereid::backend::MemoryAllocator;
using nereid::base::Status;

extern "C" {

TRITONSERVER_Error* TRITONBACKEND_ApiVersion(uint32_t* major, uint32_t* minor) {
  NEREID_CHECK_NOT_NULL(major, minor);
  *major = TRITONBACKEND_API_VERSION_MAJOR;
  *minor = TRITONBACKEND_API_VERSION_MINOR;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_MemoryManagerAllocate(TRITONBACKEND_MemoryManager* manager,
                                                        void** buffer,
                                                        const TRITONSERVER_MemoryType memory_type,
                                                        const int64_t memory_type_id,
                                                        const uint64_t byte_size) {
  NEREID_CHECK_NOT_NULL(manager, buffer);
  return Guard([&] {
    return reinterpret_cast<MemoryAllocator*>(manager)->Allocate(buffer, memory_type,
                                                                 memory_type_id, byte_size);
  });
}

TRITONSERVER_Error* TRITONBACKEND_MemoryManagerFree(TRITONBACKEND_MemoryManager* manager,
                                                    void* buffer,
                                                    const TRITONSERVER_MemoryType memory_type,
                                                    const int64_t memory_type_id) {
  NEREID_CHECK_NOT_NULL(manager);
  return Guard([&] {
    return reinterpret_cast<MemoryAllocator*>(manager)->Free(buffer, memory_type, memory_type_id);
  });
}

TRITONSERVER_Error* TRITONBACKEND_BackendName(TRITONBACKEND_Backend* backend, const char** name) {
  NEREID_CHECK_NOT_NULL(backend, name);
  *name = Backend::From(backend)->name().c_str();
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_BackendConfig(TRITONBACKEND_Backend* backend,
                                                TRITONSERVER_Message** backend_config) {
  NEREID_CHECK_NOT_NULL(backend, backend_config);
  *backend_config = &Backend::From(backend)->config();
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_BackendExecutionPolicy(TRITONBACKEND_Backend* backend,
                                                         TRITONBACKEND_ExecutionPolicy* policy) {
  NEREID_CHECK_NOT_NULL(backend, policy);
  *policy = Backend::From(backend)->execution_policy;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_BackendSetExecutionPolicy(TRITONBACKEND_Backend* backend,
                                                            TRITONBACKEND_ExecutionPolicy policy) {
  NEREID_CHECK_NOT_NULL(backend);
  if (policy != TRITONBACKEND_EXECUTION_BLOCKING &&
      policy != TRITONBACKEND_EXECUTION_DEVICE_BLOCKING) {
    return nereid::abi::ToError(Status::InvalidArgument("unknown execution policy " +
                                                        std::to_string(static_cast<int>(policy))));
  }
  Backend::From(backend)->execution_policy = policy;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_BackendArtifacts(TRITONBACKEND_Backend* backend,
                                                   TRITONBACKEND_ArtifactType* artifact_type,
                                                   const char** location) {
  NEREID_CHECK_NOT_NULL(backend, artifact_type, location);
  *artifact_type = TRITONBACKEND_ARTIFACT_FILESYSTEM;
  *location = Backend::From(backend)->directory().c_str();
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_BackendMemoryManager(TRITONBACKEND_Backend* backend,
                                                       TRITONBACKEND_MemoryManager** manager) {
  NEREID_CHECK_NOT_NULL(backend, manager);
  *manager =
      reinterpret_cast<TRITONBACKEND_MemoryManager*>(&Backend::From(backend)->memory_allocator());
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_BackendState(TRITONBACKEND_Backend* backend, void** state) {
  NEREID_CHECK_NOT_NULL(backend, state);
  *state = Backend::From(backend)->state;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_BackendSetState(TRITONBACKEND_Backend* backend, void* state) {
  NEREID_CHECK_NOT_NULL(backend);
  Backend::From(backend)->state = state;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_BackendAttributeAddPreferredInstanceGroup(
    TRITONBACKEND_BackendAttribute* backend_attributes, const TRITONSERVER_InstanceGroupKind kind,
    const uint64_t count, const uint64_t* device_ids, const uint64_t id_count) {
  NEREID_CHECK_NOT_NULL(backend_attributes);
  if (id_count > 0) NEREID_CHECK_NOT_NULL(device_ids);
  return Guard([&] {
    auto* attributes = reinterpret_cast<BackendAttributes*>(backend_attributes);
    auto& group = attributes->preferred_groups.emplace_back();
    group.kind = kind;
    group.count = count;
    group.device_ids.assign(device_ids, device_ids + id_count);
    return Status::Ok();
  });
}

TRITONSERVER_Error* TRITONBACKEND_BackendAttributeSetParallelModelInstanceLoading(
    TRITONBACKEND_BackendAttribute* backend_attributes, bool enabled) {
  NEREID_CHECK_NOT_NULL(backend_attributes);
  reinterpret_cast<BackendAttributes*>(backend_attributes)->parallel_instance_loading = enabled;
  return nullptr;
}

}  // extern "C"
