// SPDX-License-Identifier: Apache-2.0
// TRITONBACKEND_State*: belongs to sequence batching, which this build does not have.
#include "backend/abi/conversions.h"

extern "C" {

TRITONSERVER_Error* TRITONBACKEND_StateNew(TRITONBACKEND_State** /*state*/,
                                           TRITONBACKEND_Request* /*request*/, const char* /*name*/,
                                           const TRITONSERVER_DataType /*datatype*/,
                                           const int64_t* /*shape*/,
                                           const uint32_t /*dims_count*/) {
  return nereid::abi::MissingFeature(__func__, "sequence state");
}

TRITONSERVER_Error* TRITONBACKEND_StateUpdate(TRITONBACKEND_State* /*state*/) {
  return nereid::abi::MissingFeature(__func__, "sequence state");
}

TRITONSERVER_Error* TRITONBACKEND_StateBuffer(TRITONBACKEND_State* /*state*/, void** /*buffer*/,
                                              const uint64_t /*buffer_byte_size*/,
                                              TRITONSERVER_MemoryType* /*memory_type*/,
                                              int64_t* /*memory_type_id*/) {
  return nereid::abi::MissingFeature(__func__, "sequence state");
}

TRITONSERVER_Error* TRITONBACKEND_StateBufferAttributes(
    TRITONBACKEND_State* /*state*/, TRITONSERVER_BufferAttributes** /*buffer_attributes*/) {
  return nereid::abi::MissingFeature(__func__, "sequence state");
}

}  // extern "C"
