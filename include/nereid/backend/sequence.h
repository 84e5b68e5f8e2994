// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads the position of a request in its sequence, and writes the states that the server keeps for
// the sequence (`sequence_batching.state`). The server adds the current value of a state as an
// input. Its next value is written with WriteState, or into the buffer of AllocateState, and takes
// effect when the request is released.

#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "nereid/backend/error.h"
#include "nereid/backend/output.h"
#include "triton/core/tritonbackend.h"

namespace nereid::backend {

/// The position of a request in its sequence.
struct SequencePosition {
  std::string id;  // a decimal number or a text; "0" or "" if the request belongs to no sequence
  bool start = false;
  bool end = false;
};

/// Reads the position from the flags and the correlation id of the request.
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

/// Creates the next value of the state whose output is `name`, with a buffer of `size` bytes. The
/// server chooses the kind of memory; `memory->gpu` says which one the caller prefers. The caller
/// fills the buffer and then calls TRITONBACKEND_StateUpdate with `*state`.
inline Error AllocateState(TRITONBACKEND_Request* request, const char* name,
                           TRITONSERVER_DataType data_type, std::span<const int64_t> shape,
                           uint64_t size, TRITONBACKEND_State** state, OutputMemory* memory) {
  NEREID_BACKEND_TRY(TRITONBACKEND_StateNew(state, request, name, data_type, shape.data(),
                                            static_cast<uint32_t>(shape.size())));
  TRITONSERVER_MemoryType type =
      memory->gpu >= 0 ? TRITONSERVER_MEMORY_GPU : TRITONSERVER_MEMORY_CPU;
  int64_t type_id = memory->gpu >= 0 ? memory->gpu : 0;
  void* base = nullptr;
  NEREID_BACKEND_TRY(TRITONBACKEND_StateBuffer(*state, &base, size, &type, &type_id));
  if (base == nullptr && size != 0) {
    return Error::Internal("state '" + std::string(name) + "' got no buffer");
  }
  memory->data = static_cast<char*>(base);
  memory->gpu = type == TRITONSERVER_MEMORY_GPU ? static_cast<int>(type_id) : -1;
  return {};
}

/// Does the same for a caller that writes CPU memory only. UNSUPPORTED if the server keeps the
/// state in GPU memory.
inline Error AllocateState(TRITONBACKEND_Request* request, const char* name,
                           TRITONSERVER_DataType data_type, std::span<const int64_t> shape,
                           uint64_t size, TRITONBACKEND_State** state, char** buffer) {
  OutputMemory memory;
  NEREID_BACKEND_TRY(AllocateState(request, name, data_type, shape, size, state, &memory));
  if (memory.gpu >= 0) {
    return Error::Unsupported("state '" + std::string(name) +
                              "' is kept in GPU memory; this backend writes CPU memory");
  }
  *buffer = memory.data;
  return {};
}

/// Copies the next value of the state and completes it.
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
