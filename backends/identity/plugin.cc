// SPDX-License-Identifier: Apache-2.0
// The functions that the server calls.
#include <memory>

#include "identity/identity_model.h"
#include "nereid/backend/state.h"

namespace {

using nereid::backend::Attach;
using nereid::backend::Attached;
using nereid::backend::Detach;
using nereid::backend::EntryPoint;
using nereid::backend::Error;
using nereid::identity::IdentityInstance;
using nereid::identity::IdentityModel;

}  // namespace

extern "C" {

TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_Initialize(TRITONBACKEND_Backend*) {
  return EntryPoint([] { return nereid::backend::CheckApiVersion(); });
}

TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_GetBackendAttribute(
    TRITONBACKEND_Backend*, TRITONBACKEND_BackendAttribute* attributes) {
  return EntryPoint([&]() -> Error {
    NEREID_BACKEND_TRY(TRITONBACKEND_BackendAttributeAddPreferredInstanceGroup(
        attributes, TRITONSERVER_INSTANCEGROUPKIND_CPU, 0, nullptr, 0));
    return Error(TRITONBACKEND_BackendAttributeSetParallelModelInstanceLoading(attributes, true));
  });
}

TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelInitialize(TRITONBACKEND_Model* model) {
  return EntryPoint([&]() -> Error {
    auto state = std::make_unique<IdentityModel>();
    NEREID_BACKEND_TRY(state->Load(model));
    return Attach(model, std::move(state));
  });
}

TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelFinalize(TRITONBACKEND_Model* model) {
  return EntryPoint([&] {
    std::unique_ptr<IdentityModel> state;
    return Detach(model, &state);
  });
}

TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceInitialize(
    TRITONBACKEND_ModelInstance* instance) {
  return EntryPoint([&]() -> Error {
    TRITONBACKEND_Model* model = nullptr;
    NEREID_BACKEND_TRY(TRITONBACKEND_ModelInstanceModel(instance, &model));
    IdentityModel* state = nullptr;
    NEREID_BACKEND_TRY(Attached(model, &state));
    return Attach(instance, std::make_unique<IdentityInstance>(state));
  });
}

TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceFinalize(
    TRITONBACKEND_ModelInstance* instance) {
  return EntryPoint([&] {
    std::unique_ptr<IdentityInstance> state;
    return Detach(instance, &state);
  });
}

TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceExecute(
    TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request** requests, uint32_t count) {
  return EntryPoint([&]() -> Error {
    IdentityInstance* state = nullptr;
    NEREID_BACKEND_TRY(Attached(instance, &state));
    state->Execute(instance, requests, count);
    return {};
  });
}

}  // extern "C"
