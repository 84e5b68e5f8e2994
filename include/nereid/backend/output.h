// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "nereid/backend/data_type.h"
#include "nereid/backend/error.h"
#include "triton/core/tritonbackend.h"

namespace nereid::backend {

/// Adds an output to a response and allocates its buffer of `size` bytes in CPU memory. `*buffer`
/// belongs to the response; it may be null if `size` is 0.
inline Error AllocateOutput(TRITONBACKEND_Response* response, const char* name,
                            TRITONSERVER_DataType data_type, std::span<const int64_t> shape,
                            uint64_t size, char** buffer) {
  TRITONBACKEND_Output* output = nullptr;
  NEREID_BACKEND_TRY(TRITONBACKEND_ResponseOutput(response, &output, name, data_type, shape.data(),
                                                  static_cast<uint32_t>(shape.size())));
  TRITONSERVER_MemoryType type = TRITONSERVER_MEMORY_CPU;
  int64_t type_id = 0;
  void* base = nullptr;
  NEREID_BACKEND_TRY(TRITONBACKEND_OutputBuffer(output, &base, size, &type, &type_id));
  if (type == TRITONSERVER_MEMORY_GPU) {
    return Error::Unsupported("output '" + std::string(name) +
                              "' is wanted in GPU memory; this backend writes CPU memory");
  }
  if (base == nullptr && size != 0) {
    return Error::Internal("output '" + std::string(name) + "' got no buffer");
  }
  *buffer = static_cast<char*>(base);
  return {};
}

/// Adds an output and copies `size` bytes into it.
inline Error WriteOutput(TRITONBACKEND_Response* response, const char* name,
                         TRITONSERVER_DataType data_type, std::span<const int64_t> shape,
                         const char* data, uint64_t size) {
  char* buffer = nullptr;
  NEREID_BACKEND_TRY(AllocateOutput(response, name, data_type, shape, size, &buffer));
  if (size != 0) {
    std::memcpy(buffer, data, size);
  }
  return {};
}

/// Calls `visit(name)`, which returns an Error, for each output that the request asks for. Stops at
/// the first error.
template <typename Visit>
Error ForEachRequestedOutput(TRITONBACKEND_Request* request, Visit&& visit) {
  uint32_t count = 0;
  NEREID_BACKEND_TRY(TRITONBACKEND_RequestOutputCount(request, &count));
  for (uint32_t i = 0; i < count; ++i) {
    const char* name = nullptr;
    NEREID_BACKEND_TRY(TRITONBACKEND_RequestOutputName(request, i, &name));
    NEREID_BACKEND_TRY(visit(name));
  }
  return {};
}

}  // namespace nereid::backend
