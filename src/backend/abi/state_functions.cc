// SPDX-License-Identifier: Apache-2.0
// TRITONBACKEND_State*: the states that a backend writes for the next request of a sequence.
#include "abi/error.h"
#include "abi/handle.h"
#include "abi/tensor_types.h"
#include "request/inference_request.h"
#include "request/sequence_states.h"

using nereid::abi::Guard;
using nereid::abi::ToDataType;
using nereid::abi::ToMemoryType;
using nereid::abi::Unwrap;
using nereid::abi::Wrap;
using nereid::base::Status;
using nereid::memory::MemoryType;

extern "C" {

TRITONSERVER_Error* TRITONBACKEND_StateNew(TRITONBACKEND_State** state,
                                           TRITONBACKEND_Request* request, const char* name,
                                           const TRITONSERVER_DataType datatype,
                                           const int64_t* shape, const uint32_t dims_count) {
  NEREID_CHECK_NOT_NULL(state, request, name);
  if (dims_count > 0) NEREID_CHECK_NOT_NULL(shape);
  return Guard([&] {
    auto& owner = Unwrap(request);
    if (owner.states == nullptr) {
      return Status::Internal("unable to add state '" + std::string(name) +
                              "'. State configuration is missing for model '" + owner.model_name +
                              "'.");
    }
    NEREID_ASSIGN_OR_RETURN(
        auto* const made,
        owner.states->NewOutput(name, ToDataType(datatype),
                                nereid::tensor::Shape(shape, shape + dims_count)));
    *state = Wrap<TRITONBACKEND_State>(made);
    return Status::Ok();
  });
}

TRITONSERVER_Error* TRITONBACKEND_StateUpdate(TRITONBACKEND_State* state) {
  NEREID_CHECK_NOT_NULL(state);
  return Guard([&] { return Unwrap(state).owner->Update(&Unwrap(state)); });
}

TRITONSERVER_Error* TRITONBACKEND_StateBuffer(TRITONBACKEND_State* state, void** buffer,
                                              const uint64_t buffer_byte_size,
                                              TRITONSERVER_MemoryType* memory_type,
                                              int64_t* memory_type_id) {
  NEREID_CHECK_NOT_NULL(state, buffer, memory_type, memory_type_id);
  return Guard([&] {
    nereid::request::OutputState& output = Unwrap(state);
    nereid::request::StatePlace preferred;
    if (*memory_type == TRITONSERVER_MEMORY_GPU) preferred = *memory_type_id;
    NEREID_ASSIGN_OR_RETURN(*buffer, output.owner->Buffer(&output, buffer_byte_size, preferred));
    *memory_type = ToMemoryType(output.place ? MemoryType::kGpu : MemoryType::kCpu);
    *memory_type_id = output.place.value_or(0);
    return Status::Ok();
  });
}

TRITONSERVER_Error* TRITONBACKEND_StateBufferAttributes(
    TRITONBACKEND_State* state, TRITONSERVER_BufferAttributes** buffer_attributes) {
  NEREID_CHECK_NOT_NULL(state, buffer_attributes);
  return Guard([&] {
    NEREID_ASSIGN_OR_RETURN(auto* const attributes,
                            Unwrap(state).owner->Attributes(&Unwrap(state)));
    *buffer_attributes = Wrap<TRITONSERVER_BufferAttributes>(attributes);
    return Status::Ok();
  });
}

}  // extern "C"
