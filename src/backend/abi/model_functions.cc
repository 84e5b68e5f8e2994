// SPDX-License-Identifier: Apache-2.0
// TRITONBACKEND_Model*.
#include "abi/error.h"
#include "abi/handle.h"
#include "abi/message.h"
#include "backend/abi/memory_usage.h"
#include "backend/backend_model.h"

using nereid::abi::Guard;
using nereid::backend::BackendModel;
using nereid::base::Status;

namespace {

Status CheckConfigVersion(uint32_t version) {
  if (version == 1) return Status::Ok();
  return Status::Unsupported("model configuration version " + std::to_string(version) +
                             " not supported, supported versions are: 1");
}

}  // namespace

extern "C" {

TRITONSERVER_Error* TRITONBACKEND_ModelName(TRITONBACKEND_Model* model, const char** name) {
  NEREID_CHECK_NOT_NULL(model, name);
  *name = BackendModel::From(model)->description().name.c_str();
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelVersion(TRITONBACKEND_Model* model, uint64_t* version) {
  NEREID_CHECK_NOT_NULL(model, version);
  *version = BackendModel::From(model)->description().version;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelRepository(TRITONBACKEND_Model* model,
                                                  TRITONBACKEND_ArtifactType* artifact_type,
                                                  const char** location) {
  NEREID_CHECK_NOT_NULL(model, artifact_type, location);
  *artifact_type = TRITONBACKEND_ARTIFACT_FILESYSTEM;
  *location = BackendModel::From(model)->description().directory.c_str();
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelConfig(TRITONBACKEND_Model* model,
                                              const uint32_t config_version,
                                              TRITONSERVER_Message** model_config) {
  NEREID_CHECK_NOT_NULL(model, model_config);
  return Guard([&] {
    NEREID_RETURN_IF_ERROR(CheckConfigVersion(config_version));
    *model_config = new TRITONSERVER_Message(BackendModel::From(model)->config_json());
    return Status::Ok();
  });
}

TRITONSERVER_Error* TRITONBACKEND_ModelAutoCompleteConfig(TRITONBACKEND_Model* model,
                                                          bool* auto_complete_config) {
  NEREID_CHECK_NOT_NULL(model, auto_complete_config);
  *auto_complete_config = BackendModel::From(model)->description().auto_complete;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelSetConfig(TRITONBACKEND_Model* model,
                                                 const uint32_t config_version,
                                                 TRITONSERVER_Message* model_config) {
  NEREID_CHECK_NOT_NULL(model, model_config);
  return Guard([&] {
    NEREID_RETURN_IF_ERROR(CheckConfigVersion(config_version));
    return BackendModel::From(model)->Complete(model_config->json);
  });
}

TRITONSERVER_Error* TRITONBACKEND_ModelServer(TRITONBACKEND_Model* model,
                                              TRITONSERVER_Server** server) {
  NEREID_CHECK_NOT_NULL(model, server);
  *server = BackendModel::From(model)->description().server;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelBackend(TRITONBACKEND_Model* model,
                                               TRITONBACKEND_Backend** backend) {
  NEREID_CHECK_NOT_NULL(model, backend);
  *backend = BackendModel::From(model)->backend().handle();
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelState(TRITONBACKEND_Model* model, void** state) {
  NEREID_CHECK_NOT_NULL(model, state);
  *state = BackendModel::From(model)->state;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelSetState(TRITONBACKEND_Model* model, void* state) {
  NEREID_CHECK_NOT_NULL(model);
  BackendModel::From(model)->state = state;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelReportMemoryUsage(TRITONBACKEND_Model* model,
                                                         TRITONSERVER_BufferAttributes** usage,
                                                         uint32_t usage_size) {
  NEREID_CHECK_NOT_NULL(model);
  if (usage_size > 0) NEREID_CHECK_NOT_NULL(usage);
  return Guard([&] {
    NEREID_ASSIGN_OR_RETURN(auto reported, nereid::backend::ReadMemoryUsage(usage, usage_size));
    BackendModel::From(model)->SetMemoryUsage(std::move(reported));
    return Status::Ok();
  });
}

}  // extern "C"
