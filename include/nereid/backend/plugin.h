// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "nereid/backend/cpu_threads.h"
#include "nereid/backend/error.h"
#include "nereid/backend/input_memory.h"
#include "nereid/backend/state.h"
#include "nereid/backend_room.h"
#include "triton/core/tritonbackend.h"

namespace nereid::backend {

/// The backend state of a plug-in that needs none.
struct NoBackendState {
  Error Load(TRITONBACKEND_Backend*) { return {}; }
};

/// The functions that the server calls, implemented with the three classes of a plug-in:
///
///   struct BackendState  { Error Load(TRITONBACKEND_Backend* backend); };
///   struct ModelState    { explicit ModelState(BackendState* backend);
///                          Error Load(TRITONBACKEND_Model* model); };
///   struct InstanceState { explicit InstanceState(ModelState* model);
///                          Error Load(TRITONBACKEND_ModelInstance* instance);
///                          void Execute(TRITONBACKEND_ModelInstance*, TRITONBACKEND_Request**,
///                                       uint32_t count); };
///
/// The server's Initialize call creates an object and attaches it to its handle; the matching
/// Finalize call deletes it. A backend state outlives its model states, and a model state its
/// instance states. Load returns (or throws) the error that prevents the backend, model or instance
/// from loading. Execute owns the requests: it must answer and release each of them (see Batch). An
/// exception may leave Execute only before it has taken ownership of a request, because the server
/// then answers all of them.
///
/// If the configuration has no instance groups, the backend prefers the CPU, or the kind in the
/// constant BackendState::kPreferredKind. If BackendState has a function `bool PrefersGpu() const`
/// that returns true, the backend prefers the GPUs that the server uses, or the CPU if the server
/// uses none. Instances of a model are loaded in parallel, unless InstanceState has a constant
/// kLoadsAlone.
template <typename BackendState, typename ModelState, typename InstanceState>
struct PluginFunctions {
  static TRITONSERVER_Error* Initialize(TRITONBACKEND_Backend* backend) {
    return EntryPoint([&]() -> Error {
      NEREID_BACKEND_TRY(CheckApiVersion());
      auto state = std::make_unique<BackendState>();
      NEREID_BACKEND_TRY(state->Load(backend));
      return Attach(backend, std::move(state));
    });
  }

  static TRITONSERVER_Error* Attributes([[maybe_unused]] TRITONBACKEND_Backend* backend,
                                        TRITONBACKEND_BackendAttribute* attributes) {
    return EntryPoint([&]() -> Error {
      if constexpr (requires(const BackendState& state) { state.PrefersGpu(); }) {
        BackendState* state = nullptr;
        NEREID_BACKEND_TRY(Attached(backend, &state));
        if (state->PrefersGpu()) {
          NEREID_BACKEND_TRY(TRITONBACKEND_BackendAttributeAddPreferredInstanceGroup(
              attributes, TRITONSERVER_INSTANCEGROUPKIND_GPU, 0, nullptr, 0));
        }
      }
      TRITONSERVER_InstanceGroupKind kind = TRITONSERVER_INSTANCEGROUPKIND_CPU;
      if constexpr (requires { BackendState::kPreferredKind; }) {
        kind = BackendState::kPreferredKind;
      }
      NEREID_BACKEND_TRY(
          TRITONBACKEND_BackendAttributeAddPreferredInstanceGroup(attributes, kind, 0, nullptr, 0));
      constexpr bool kParallel = !requires { InstanceState::kLoadsAlone; };
      return Error(
          TRITONBACKEND_BackendAttributeSetParallelModelInstanceLoading(attributes, kParallel));
    });
  }

  static TRITONSERVER_Error* ModelInitialize(TRITONBACKEND_Model* model) {
    return EntryPoint([&]() -> Error {
      TRITONBACKEND_Backend* backend = nullptr;
      NEREID_BACKEND_TRY(TRITONBACKEND_ModelBackend(model, &backend));
      BackendState* owner = nullptr;
      NEREID_BACKEND_TRY(Attached(backend, &owner));
      auto state = std::make_unique<ModelState>(owner);
      NEREID_BACKEND_TRY(state->Load(model));
      return Attach(model, std::move(state));
    });
  }

  static TRITONSERVER_Error* InstanceInitialize(TRITONBACKEND_ModelInstance* instance) {
    return EntryPoint([&]() -> Error {
      TRITONBACKEND_Model* model = nullptr;
      NEREID_BACKEND_TRY(TRITONBACKEND_ModelInstanceModel(instance, &model));
      ModelState* owner = nullptr;
      NEREID_BACKEND_TRY(Attached(model, &owner));
      auto state = std::make_unique<InstanceState>(owner);
      NEREID_BACKEND_TRY(state->Load(instance));
      return Attach(instance, std::move(state));
    });
  }

  static TRITONSERVER_Error* Execute(TRITONBACKEND_ModelInstance* instance,
                                     TRITONBACKEND_Request** requests, uint32_t count) {
    return EntryPoint([&]() -> Error {
      InstanceState* state = nullptr;
      NEREID_BACKEND_TRY(Attached(instance, &state));
      state->Execute(instance, requests, count);
      return {};
    });
  }

  static TRITONSERVER_Error* Ready(TRITONBACKEND_ModelInstance* instance) {
    return EntryPoint([&]() -> Error {
      InstanceState* state = nullptr;
      NEREID_BACKEND_TRY(Attached(instance, &state));
      return state->CheckReady();
    });
  }

  static bool HasRoom(TRITONBACKEND_ModelInstance* instance) {
    InstanceState* state = nullptr;
    return Attached(instance, &state).ok() && state->HasRoom();
  }

  static bool TakeInputMemory(TRITONBACKEND_Model* model, size_t size, void** base, void** memory) {
    ModelState* state = nullptr;
    return Attached(model, &state).ok() && state->TakeInputMemory(size, base, memory);
  }

  static TRITONSERVER_Error* PrepareThreads(TRITONBACKEND_Model* model, uint32_t threads) {
    return EntryPoint([&]() -> Error {
      ModelState* state = nullptr;
      NEREID_BACKEND_TRY(Attached(model, &state));
      return state->PrepareThreads(threads);
    });
  }

  static void SetThreads(TRITONBACKEND_ModelInstance* instance, uint32_t threads) {
    InstanceState* state = nullptr;
    const Error attached = Attached(instance, &state);
    if (attached.ok()) {
      state->SetThreads(threads);
    }
  }

  static bool InstancesShare([[maybe_unused]] TRITONBACKEND_Model* model) {
    if constexpr (requires(const ModelState& state) { state.InstancesShare(); }) {
      ModelState* state = nullptr;
      return Attached(model, &state).ok() && state->InstancesShare();
    }
    return false;
  }

  template <typename State, typename Handle>
  static TRITONSERVER_Error* Finalize(Handle* handle) {
    return EntryPoint([&] {
      std::unique_ptr<State> state;
      return Detach(handle, &state);
    });
  }
};

}  // namespace nereid::backend

/// Defines the entry points of a plug-in. Used once in each plug-in, outside of any namespace.
#define NEREID_BACKEND_PLUGIN(BackendState, ModelState, InstanceState)                             \
  using NereidPlugin = nereid::backend::PluginFunctions<BackendState, ModelState, InstanceState>;  \
  extern "C" {                                                                                     \
  TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_Initialize(                                \
      TRITONBACKEND_Backend* backend) {                                                            \
    return NereidPlugin::Initialize(backend);                                                      \
  }                                                                                                \
  TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_Finalize(TRITONBACKEND_Backend* backend) { \
    return NereidPlugin::Finalize<BackendState>(backend);                                          \
  }                                                                                                \
  TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_GetBackendAttribute(                       \
      TRITONBACKEND_Backend* backend, TRITONBACKEND_BackendAttribute* attributes) {                \
    return NereidPlugin::Attributes(backend, attributes);                                          \
  }                                                                                                \
  TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelInitialize(                           \
      TRITONBACKEND_Model* model) {                                                                \
    return NereidPlugin::ModelInitialize(model);                                                   \
  }                                                                                                \
  TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelFinalize(                             \
      TRITONBACKEND_Model* model) {                                                                \
    return NereidPlugin::Finalize<ModelState>(model);                                              \
  }                                                                                                \
  TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceInitialize(                   \
      TRITONBACKEND_ModelInstance* instance) {                                                     \
    return NereidPlugin::InstanceInitialize(instance);                                             \
  }                                                                                                \
  TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceFinalize(                     \
      TRITONBACKEND_ModelInstance* instance) {                                                     \
    return NereidPlugin::Finalize<InstanceState>(instance);                                        \
  }                                                                                                \
  TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceExecute(                      \
      TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request** requests, uint32_t count) {   \
    return NereidPlugin::Execute(instance, requests, count);                                       \
  }                                                                                                \
  }                                                                                                \
  static_assert(true, "takes the semicolon")

/// Defines the entry point of nereid/backend_room.h. Used after NEREID_BACKEND_PLUGIN by plug-ins
/// whose InstanceState has a function `bool HasRoom()`.
#define NEREID_BACKEND_ROOM                                    \
  extern "C" {                                                 \
  TRITONBACKEND_ISPEC bool NEREIDBACKEND_ModelInstanceHasRoom( \
      TRITONBACKEND_ModelInstance* instance) {                 \
    return NereidPlugin::HasRoom(instance);                    \
  }                                                            \
  }                                                            \
  static_assert(true, "takes the semicolon")

/// Defines the entry point with which the server asks whether an instance can serve. Used after
/// NEREID_BACKEND_PLUGIN by plug-ins whose InstanceState has a function `Error CheckReady()`, which
/// any thread may call during an execution.
#define NEREID_BACKEND_READINESS                                            \
  extern "C" {                                                              \
  TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReady( \
      TRITONBACKEND_ModelInstance* instance) {                              \
    return NereidPlugin::Ready(instance);                                   \
  }                                                                         \
  }                                                                         \
  static_assert(true, "takes the semicolon")

/// Defines the entry points of input_memory.h. Used after NEREID_BACKEND_PLUGIN by plug-ins whose
/// ModelState has a function `bool TakeInputMemory(size_t, void** base, void** memory) noexcept`,
/// which must be thread-safe, and the static functions `size_t PrepareInputMemory(void* memory,
/// size_t begin, size_t end) noexcept` and `void FreeInputMemory(void* memory) noexcept`.
#define NEREID_BACKEND_INPUT_MEMORY(ModelState)                                           \
  extern "C" {                                                                            \
  TRITONBACKEND_ISPEC bool NEREIDBACKEND_ModelTakeInputMemory(TRITONBACKEND_Model* model, \
                                                              size_t size, void** base,   \
                                                              void** memory) {            \
    return NereidPlugin::TakeInputMemory(model, size, base, memory);                      \
  }                                                                                       \
  TRITONBACKEND_ISPEC size_t NEREIDBACKEND_InputMemoryPrepare(void* memory, size_t begin, \
                                                              size_t end) {               \
    return ModelState::PrepareInputMemory(memory, begin, end);                            \
  }                                                                                       \
  TRITONBACKEND_ISPEC void NEREIDBACKEND_InputMemoryFree(void* memory) {                  \
    ModelState::FreeInputMemory(memory);                                                  \
  }                                                                                       \
  }                                                                                       \
  static_assert(true, "takes the semicolon")

/// Defines the entry points with which the server changes the number of threads of executions on
/// the CPU (cpu_threads.h). Used after NEREID_BACKEND_PLUGIN by plug-ins whose ModelState has a
/// function `Error PrepareThreads(uint32_t)`, which must be thread-safe, and whose InstanceState
/// has a function `void SetThreads(uint32_t) noexcept`. The server may add instances to a model
/// whose ModelState has a function `bool InstancesShare() const` that returns true.
#define NEREID_BACKEND_CPU_THREADS                                                         \
  extern "C" {                                                                             \
  TRITONBACKEND_ISPEC TRITONSERVER_Error* NEREIDBACKEND_ModelPrepareThreads(               \
      TRITONBACKEND_Model* model, uint32_t threads) {                                      \
    return NereidPlugin::PrepareThreads(model, threads);                                   \
  }                                                                                        \
  TRITONBACKEND_ISPEC void NEREIDBACKEND_ModelInstanceSetThreads(                          \
      TRITONBACKEND_ModelInstance* instance, uint32_t threads) {                           \
    NereidPlugin::SetThreads(instance, threads);                                           \
  }                                                                                        \
  TRITONBACKEND_ISPEC bool NEREIDBACKEND_ModelInstancesShare(TRITONBACKEND_Model* model) { \
    return NereidPlugin::InstancesShare(model);                                            \
  }                                                                                        \
  }                                                                                        \
  static_assert(true, "takes the semicolon")
