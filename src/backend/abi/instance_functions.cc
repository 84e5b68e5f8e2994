// SPDX-License-Identifier: Apache-2.0
// TRITONBACKEND_ModelInstance*, except the statistics.
#include "abi/error.h"
#include "abi/handle.h"
#include "backend/abi/memory_usage.h"
#include "backend/backend_instance.h"

using nereid::abi::Guard;
using nereid::abi::OutOfBounds;
using nereid::backend::BackendInstance;
using nereid::base::Status;

extern "C" {

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceName(TRITONBACKEND_ModelInstance* instance,
                                                    const char** name) {
  NEREID_CHECK_NOT_NULL(instance, name);
  *name = BackendInstance::From(instance)->description().name.c_str();
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceKind(TRITONBACKEND_ModelInstance* instance,
                                                    TRITONSERVER_InstanceGroupKind* kind) {
  NEREID_CHECK_NOT_NULL(instance, kind);
  *kind = static_cast<TRITONSERVER_InstanceGroupKind>(
      BackendInstance::From(instance)->description().kind);
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceDeviceId(TRITONBACKEND_ModelInstance* instance,
                                                        int32_t* device_id) {
  NEREID_CHECK_NOT_NULL(instance, device_id);
  *device_id = BackendInstance::From(instance)->description().device_id;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceHostPolicy(TRITONBACKEND_ModelInstance* instance,
                                                          TRITONSERVER_Message** host_policy) {
  NEREID_CHECK_NOT_NULL(instance, host_policy);
  *host_policy = &BackendInstance::From(instance)->host_policy();
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceIsPassive(TRITONBACKEND_ModelInstance* instance,
                                                         bool* is_passive) {
  NEREID_CHECK_NOT_NULL(instance, is_passive);
  *is_passive = BackendInstance::From(instance)->description().passive;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceProfileCount(TRITONBACKEND_ModelInstance* instance,
                                                            uint32_t* count) {
  NEREID_CHECK_NOT_NULL(instance, count);
  *count = static_cast<uint32_t>(BackendInstance::From(instance)->description().profiles.size());
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceProfileName(TRITONBACKEND_ModelInstance* instance,
                                                           const uint32_t index,
                                                           const char** profile_name) {
  NEREID_CHECK_NOT_NULL(instance, profile_name);
  return Guard([&] {
    const auto& profiles = BackendInstance::From(instance)->description().profiles;
    if (index >= profiles.size()) return OutOfBounds(index, profiles.size(), "profiles");
    *profile_name = profiles[index].c_str();
    return Status::Ok();
  });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceSecondaryDeviceCount(
    TRITONBACKEND_ModelInstance* instance, uint32_t* count) {
  NEREID_CHECK_NOT_NULL(instance, count);
  *count = static_cast<uint32_t>(
      BackendInstance::From(instance)->description().secondary_devices.size());
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceSecondaryDeviceProperties(
    TRITONBACKEND_ModelInstance* instance, uint32_t index, const char** kind, int64_t* id) {
  NEREID_CHECK_NOT_NULL(instance, kind, id);
  return Guard([&] {
    const auto& devices = BackendInstance::From(instance)->description().secondary_devices;
    if (index >= devices.size()) return OutOfBounds(index, devices.size(), "secondary devices");
    *kind = devices[index].kind.c_str();
    *id = devices[index].device_id;
    return Status::Ok();
  });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceModel(TRITONBACKEND_ModelInstance* instance,
                                                     TRITONBACKEND_Model** model) {
  NEREID_CHECK_NOT_NULL(instance, model);
  *model = BackendInstance::From(instance)->model().handle();
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceState(TRITONBACKEND_ModelInstance* instance,
                                                     void** state) {
  NEREID_CHECK_NOT_NULL(instance, state);
  *state = BackendInstance::From(instance)->state;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceSetState(TRITONBACKEND_ModelInstance* instance,
                                                        void* state) {
  NEREID_CHECK_NOT_NULL(instance);
  BackendInstance::From(instance)->state = state;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReportMemoryUsage(
    TRITONBACKEND_ModelInstance* instance, TRITONSERVER_BufferAttributes** usage,
    uint32_t usage_size) {
  NEREID_CHECK_NOT_NULL(instance);
  if (usage_size > 0) NEREID_CHECK_NOT_NULL(usage);
  return Guard([&] {
    NEREID_ASSIGN_OR_RETURN(const auto reported,
                            nereid::backend::ReadMemoryUsage(usage, usage_size));
    BackendInstance::From(instance)->observer().OnMemoryUsage(reported);
    return Status::Ok();
  });
}

}  // extern "C"
