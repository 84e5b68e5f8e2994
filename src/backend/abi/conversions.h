// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <variant>

#include "abi/error.h"
#include "memory/memory_type.h"
#include "request/inference_request.h"
#include "request/inference_response.h"
#include "request/response_factory.h"
#include "request/sequence_states.h"
#include "tensor/data_type.h"
#include "triton/core/tritonbackend.h"

namespace nereid::backend {

inline request::InferenceRequest& Unwrap(TRITONBACKEND_Request* handle) {
  return *reinterpret_cast<request::InferenceRequest*>(handle);
}
inline request::InferenceResponse& Unwrap(TRITONBACKEND_Response* handle) {
  return *reinterpret_cast<request::InferenceResponse*>(handle);
}
inline request::Input& Unwrap(TRITONBACKEND_Input* handle) {
  return *reinterpret_cast<request::Input*>(handle);
}
inline request::Output& Unwrap(TRITONBACKEND_Output* handle) {
  return *reinterpret_cast<request::Output*>(handle);
}
inline request::OutputState& Unwrap(TRITONBACKEND_State* handle) {
  return *reinterpret_cast<request::OutputState*>(handle);
}
/// The C object is a heap-allocated shared_ptr, so the plug-in shares ownership of the factory.
inline std::shared_ptr<request::ResponseFactory>& Unwrap(TRITONBACKEND_ResponseFactory* handle) {
  return *reinterpret_cast<std::shared_ptr<request::ResponseFactory>*>(handle);
}

inline TRITONSERVER_DataType ToC(tensor::DataType type) {
  return static_cast<TRITONSERVER_DataType>(type);
}
inline TRITONSERVER_MemoryType ToC(memory::MemoryType type) {
  return static_cast<TRITONSERVER_MemoryType>(type);
}
inline memory::MemoryType FromC(TRITONSERVER_MemoryType type) {
  return static_cast<memory::MemoryType>(type);
}
inline TRITONSERVER_BufferAttributes* ToC(memory::BufferAttributes* attributes) {
  return reinterpret_cast<TRITONSERVER_BufferAttributes*>(attributes);
}

}  // namespace nereid::backend
