// SPDX-License-Identifier: Apache-2.0
// The functions that the server calls.
#include <memory>

#include "nereid/backend/state.h"
#include "onnxruntime/model.h"
#include "onnxruntime/ort_api.h"
#include "onnxruntime/session.h"

namespace {

using nereid::backend::Attach;
using nereid::backend::Attached;
using nereid::backend::Detach;
using nereid::backend::EntryPoint;
using nereid::backend::Error;
using nereid::onnxruntime::Environment;
using nereid::onnxruntime::OnnxModel;
using nereid::onnxruntime::Runner;

}  // namespace

extern "C" {

TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_Initialize(TRITONBACKEND_Backend* backend) {
  return EntryPoint([&]() -> Error {
    NEREID_BACKEND_TRY(nereid::backend::CheckApiVersion());
    TRITONBACKEND_ArtifactType type = TRITONBACKEND_ARTIFACT_FILESYSTEM;
    const char* directory = nullptr;
    NEREID_BACKEND_TRY(TRITONBACKEND_BackendArtifacts(backend, &type, &directory));
    NEREID_BACKEND_TRY(nereid::onnxruntime::OpenOnnxRuntime(directory == nullptr ? "" : directory));
    nereid::backend::Parameters settings;
    NEREID_BACKEND_TRY(nereid::backend::ReadBackendConfig(backend, &settings));
    auto environment = std::make_unique<Environment>();
    NEREID_BACKEND_TRY(
        nereid::onnxruntime::CreateEnvironment(std::move(settings), environment.get()));
    return Attach(backend, std::move(environment));
  });
}

TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_Finalize(TRITONBACKEND_Backend* backend) {
  return EntryPoint([&] {
    std::unique_ptr<Environment> environment;
    return Detach(backend, &environment);
  });
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
    TRITONBACKEND_Backend* backend = nullptr;
    NEREID_BACKEND_TRY(TRITONBACKEND_ModelBackend(model, &backend));
    Environment* environment = nullptr;
    NEREID_BACKEND_TRY(Attached(backend, &environment));
    auto state = std::make_unique<OnnxModel>(environment);
    NEREID_BACKEND_TRY(state->Load(model));
    return Attach(model, std::move(state));
  });
}

TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelFinalize(TRITONBACKEND_Model* model) {
  return EntryPoint([&] {
    std::unique_ptr<OnnxModel> state;
    return Detach(model, &state);
  });
}

TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceInitialize(
    TRITONBACKEND_ModelInstance* instance) {
  return EntryPoint([&]() -> Error {
    TRITONBACKEND_Model* model = nullptr;
    NEREID_BACKEND_TRY(TRITONBACKEND_ModelInstanceModel(instance, &model));
    OnnxModel* state = nullptr;
    NEREID_BACKEND_TRY(Attached(model, &state));
    std::unique_ptr<Runner> runner;
    NEREID_BACKEND_TRY(state->MakeRunner(instance, &runner));
    return Attach(instance, std::move(runner));
  });
}

TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceFinalize(
    TRITONBACKEND_ModelInstance* instance) {
  return EntryPoint([&] {
    std::unique_ptr<Runner> runner;
    return Detach(instance, &runner);
  });
}

TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceExecute(
    TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request** requests, uint32_t count) {
  return EntryPoint([&]() -> Error {
    Runner* runner = nullptr;
    NEREID_BACKEND_TRY(Attached(instance, &runner));
    runner->Execute(instance, requests, count);
    return {};
  });
}

}  // extern "C"
