// SPDX-License-Identifier: Apache-2.0
// TRITONBACKEND_State*: belongs to sequence batching, which this build does not have.
#include "backend/abi/conversions.h"

namespace {

TRITONSERVER_Error* NoSequenceState() {
  return nereid::abi::ToError(
      nereid::base::Status::Unsupported("sequence state is not supported by this server yet"));
}

}  // namespace

extern "C" {

TRITONSERVER_Error* TRITONBACKEND_StateNew(TRITONBACKEND_State** /*state*/,
                                           TRITONBACKEND_Request* /*request*/,
                                           const char* /*name*/,
                                           const TRITONSERVER_DataType /*datatype*/,
                                           const int64_t* /*shape*/,
                                           const uint32_t /*dims_count*/) {
  return NoSequenceState();
}

TRITONSERVER_Error* TRITONBACKEND_StateUpdate(TRITONBACKEND_State* /*state*/) {
  return NoSequenceState();
}

TRITONSERVER_Error* TRITONBACKEND_StateBuffer(TRITONBACKEND_State* /*state*/, void** /*buffer*/,
                                              const uint64_t /*buffer_byte_size*/,
                                              TRITONSERVER_MemoryType* /*memory_type*/,
                                              int64_t* /*memory_type_id*/) {
  return NoSequenceState();
}

TRITONSERVER_Error* TRITONBACKEND_StateBufferAttributes(
    TRITONBACKEND_State* /*state*/, TRITONSERVER_BufferAttributes** /*buffer_attributes*/) {
  return NoSequenceState();
}

}  // extern "C"
