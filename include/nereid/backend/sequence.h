// SPDX-License-Identifier: Apache-2.0
#pragma once

// Requests of sequences: where a request stands in its sequence, and the states that the server
// keeps for it (`sequence_batching.state`). A state comes in as an input; its next value is written
// with WriteState, or into the buffer of AllocateState, and counts from the request's release on.

#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "nereid/backend/error.h"
#include "triton/core/tritonbackend.h"

namespace nereid::backend {

/// What a request says of its sequence.
struct SequencePosition {
  std::string id;  // a number in decimal; "0" or "" for a request of no sequence
  bool start = false;
  bool end = false;
};

inline Error ReadSequencePosition(TRITONBACKEND_Request* request, SequencePosition* position) {
  uint32_t flags = 0;
  NEREID_BACKEND_TRY(TRITONBACKEND_RequestFlags(request, &flags));
  position->start = (flags & TRITONSERVER_REQUEST_FLAG_SEQUENCE_START) != 0;
  position->end = (flags & TRITONSERVER_REQUEST_FLAG_SEQUENCE_END) != 0;
  uint64_t number = 0;
  if (const Error text(TRITONBACKEND_RequestCorrelationId(request, &number)); text.ok()) {
    position->id = std::to_string(number);
    return {};
  }
  const char* id = nullptr;
  NEREID_BACKEND_TRY(TRITONBACKEND_RequestCorrelationIdString(request, &id));
  position->id = id;
  return {};
}

/// Begins a new value of the state whose output is `name`: its buffer of `size` bytes in CPU memory
/// (which may be null where size is 0). `*state` is for TRITONBACKEND_StateUpdate, once the buffer
/// is filled.
inline Error AllocateState(TRITONBACKEND_Request* request, const char* name,
                           TRITONSERVER_DataType data_type, std::span<const int64_t> shape,
                           uint64_t size, TRITONBACKEND_State** state, char** buffer) {
  NEREID_BACKEND_TRY(TRITONBACKEND_StateNew(state, request, name, data_type, shape.data(),
                                            static_cast<uint32_t>(shape.size())));
  TRITONSERVER_MemoryType type = TRITONSERVER_MEMORY_CPU;
  int64_t type_id = 0;
  void* base = nullptr;
  NEREID_BACKEND_TRY(TRITONBACKEND_StateBuffer(*state, &base, size, &type, &type_id));
  if (type == TRITONSERVER_MEMORY_GPU) {
    return Error::Unsupported("state '" + std::string(name) +
                              "' is kept in GPU memory; this backend writes CPU memory");
  }
  if (base == nullptr && size != 0) {
    return Error::Internal("state '" + std::string(name) + "' got no buffer");
  }
  *buffer = static_cast<char*>(base);
  return {};
}

/// Copies a new value of the state, which is then complete.
inline Error WriteState(TRITONBACKEND_Request* request, const char* name,
                        TRITONSERVER_DataType data_type, std::span<const int64_t> shape,
                        const char* data, uint64_t size) {
  TRITONBACKEND_State* state = nullptr;
  char* buffer = nullptr;
  NEREID_BACKEND_TRY(AllocateState(request, name, data_type, shape, size, &state, &buffer));
  if (size != 0) {
    std::memcpy(buffer, data, size);
  }
  return Error(TRITONBACKEND_StateUpdate(state));
}

}  // namespace nereid::backend
