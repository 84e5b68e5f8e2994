// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "nereid/backend/error.h"
#include "triton/core/tritonbackend.h"

namespace nereid::backend {

// A backend, model or instance handle stores one pointer for the plug-in. Attach passes ownership
// of an object to a handle, Attached returns the object, and Detach takes ownership back (for a
// Finalize function, which deletes the object).

template <typename State>
Error Attach(TRITONBACKEND_Backend* backend, std::unique_ptr<State> state) {
  NEREID_BACKEND_TRY(TRITONBACKEND_BackendSetState(backend, state.get()));
  state.release();
  return {};
}
template <typename State>
Error Attach(TRITONBACKEND_Model* model, std::unique_ptr<State> state) {
  NEREID_BACKEND_TRY(TRITONBACKEND_ModelSetState(model, state.get()));
  state.release();
  return {};
}
template <typename State>
Error Attach(TRITONBACKEND_ModelInstance* instance, std::unique_ptr<State> state) {
  NEREID_BACKEND_TRY(TRITONBACKEND_ModelInstanceSetState(instance, state.get()));
  state.release();
  return {};
}

namespace state_detail {
inline TRITONSERVER_Error* Get(TRITONBACKEND_Backend* handle, void** state) {
  return TRITONBACKEND_BackendState(handle, state);
}
inline TRITONSERVER_Error* Get(TRITONBACKEND_Model* handle, void** state) {
  return TRITONBACKEND_ModelState(handle, state);
}
inline TRITONSERVER_Error* Get(TRITONBACKEND_ModelInstance* handle, void** state) {
  return TRITONBACKEND_ModelInstanceState(handle, state);
}
inline TRITONSERVER_Error* Clear(TRITONBACKEND_Backend* handle) {
  return TRITONBACKEND_BackendSetState(handle, nullptr);
}
inline TRITONSERVER_Error* Clear(TRITONBACKEND_Model* handle) {
  return TRITONBACKEND_ModelSetState(handle, nullptr);
}
inline TRITONSERVER_Error* Clear(TRITONBACKEND_ModelInstance* handle) {
  return TRITONBACKEND_ModelInstanceSetState(handle, nullptr);
}
}  // namespace state_detail

/// Sets `*state` to the attached object. INTERNAL if there is none.
template <typename State, typename Handle>
Error Attached(Handle* handle, State** state) {
  void* pointer = nullptr;
  NEREID_BACKEND_TRY(state_detail::Get(handle, &pointer));
  if (pointer == nullptr) {
    return Error::Internal("the plug-in was not initialized");
  }
  *state = static_cast<State*>(pointer);
  return {};
}

/// Takes ownership of the attached object; null if there is none, because Finalize may be called
/// after an Initialize that failed.
template <typename State, typename Handle>
Error Detach(Handle* handle, std::unique_ptr<State>* state) {
  void* pointer = nullptr;
  NEREID_BACKEND_TRY(state_detail::Get(handle, &pointer));
  NEREID_BACKEND_TRY(state_detail::Clear(handle));
  state->reset(static_cast<State*>(pointer));
  return {};
}

/// Checks that the server supports the API version that the plug-in was compiled with. UNSUPPORTED
/// otherwise.
inline Error CheckApiVersion() {
  uint32_t major = 0;
  uint32_t minor = 0;
  NEREID_BACKEND_TRY(TRITONBACKEND_ApiVersion(&major, &minor));
  if (major != TRITONBACKEND_API_VERSION_MAJOR || minor < TRITONBACKEND_API_VERSION_MINOR) {
    return Error::Unsupported("the server offers backend API " + std::to_string(major) + "." +
                              std::to_string(minor) + ", this plug-in needs " +
                              std::to_string(TRITONBACKEND_API_VERSION_MAJOR) + "." +
                              std::to_string(TRITONBACKEND_API_VERSION_MINOR) + " or newer");
  }
  return {};
}

}  // namespace nereid::backend
