// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <variant>

#include "abi/error.h"
#include "memory/memory_type.h"
#include "request/inference_request.h"
#include "request/inference_response.h"
#include "request/response_factory.h"
#include "tensor/data_type.h"
#include "triton/core/tritonbackend.h"

/// Returns INVALID_ARG from a C function when a pointer that it needs is null.
#define NEREID_REQUIRE(argument) \
  if ((argument) == nullptr) return ::nereid::abi::NullArgument(__func__, #argument)

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
/// The C object holds a share in the factory.
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

/// A parameter's type and the address of its value, as the C API hands them out.
inline const void* ParameterValue(const request::Parameter& parameter,
                                  TRITONSERVER_ParameterType* type) {
  if (const auto* text = std::get_if<std::string>(&parameter.value)) {
    *type = TRITONSERVER_PARAMETER_STRING;
    return text->c_str();
  }
  if (const auto* number = std::get_if<int64_t>(&parameter.value)) {
    *type = TRITONSERVER_PARAMETER_INT;
    return number;
  }
  if (const auto* flag = std::get_if<bool>(&parameter.value)) {
    *type = TRITONSERVER_PARAMETER_BOOL;
    return flag;
  }
  *type = TRITONSERVER_PARAMETER_DOUBLE;
  return std::get_if<double>(&parameter.value);
}

inline base::Status OutOfBounds(uint32_t index, size_t count, const char* what) {
  return base::Status::InvalidArgument("out of bounds index " + std::to_string(index) +
                                       ": there are " + std::to_string(count) + " " + what);
}

}  // namespace nereid::backend
