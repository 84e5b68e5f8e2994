// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "nereid/backend/data_type.h"
#include "nereid/backend/error.h"
#include "nereid/backend/lent_output.h"
#include "triton/core/tritonbackend.h"

namespace nereid::backend {

/// The memory of an output or a state.
struct OutputMemory {
  /// May be null if the size is 0.
  char* data = nullptr;
  /// The ordinal of the GPU whose memory it is; -1 for host memory.
  int gpu = -1;
};

/// Adds an output to a response and allocates its buffer of `size` bytes, which belongs to the
/// response. The server chooses the kind of memory; `memory->gpu` says which one the caller
/// prefers.
inline Error AllocateOutput(TRITONBACKEND_Response* response, const char* name,
                            TRITONSERVER_DataType data_type, std::span<const int64_t> shape,
                            uint64_t size, OutputMemory* memory) {
  TRITONBACKEND_Output* output = nullptr;
  NEREID_BACKEND_TRY(TRITONBACKEND_ResponseOutput(response, &output, name, data_type, shape.data(),
                                                  static_cast<uint32_t>(shape.size())));
  TRITONSERVER_MemoryType type =
      memory->gpu >= 0 ? TRITONSERVER_MEMORY_GPU : TRITONSERVER_MEMORY_CPU;
  int64_t type_id = memory->gpu >= 0 ? memory->gpu : 0;
  void* base = nullptr;
  NEREID_BACKEND_TRY(TRITONBACKEND_OutputBuffer(output, &base, size, &type, &type_id));
  if (base == nullptr && size != 0) {
    return Error::Internal("output '" + std::string(name) + "' got no buffer");
  }
  memory->data = static_cast<char*>(base);
  memory->gpu = type == TRITONSERVER_MEMORY_GPU ? static_cast<int>(type_id) : -1;
  return {};
}

/// Does the same for a caller that writes CPU memory only. UNSUPPORTED if the server wants the
/// output in GPU memory.
inline Error AllocateOutput(TRITONBACKEND_Response* response, const char* name,
                            TRITONSERVER_DataType data_type, std::span<const int64_t> shape,
                            uint64_t size, char** buffer) {
  OutputMemory memory;
  NEREID_BACKEND_TRY(AllocateOutput(response, name, data_type, shape, size, &memory));
  if (memory.gpu >= 0) {
    return Error::Unsupported("output '" + std::string(name) +
                              "' is wanted in GPU memory; this backend writes CPU memory");
  }
  *buffer = memory.data;
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

/// Whether the server accepts LendOutput.
inline bool CanLendOutputs() { return NEREID_OutputLend != nullptr; }

/// Adds an output whose content is `size` bytes at `data`, which `owner` keeps until the server
/// does not need them any more (nereid/backend/lent_output.h). Not of BYTES.
inline Error LendOutput(TRITONBACKEND_Response* response, const char* name,
                        TRITONSERVER_DataType data_type, std::span<const int64_t> shape,
                        const char* data, uint64_t size, std::shared_ptr<const void> owner) {
  using Owner = std::shared_ptr<const void>;
  TRITONBACKEND_Output* output = nullptr;
  NEREID_BACKEND_TRY(TRITONBACKEND_ResponseOutput(response, &output, name, data_type, shape.data(),
                                                  static_cast<uint32_t>(shape.size())));
  return Error(NEREID_OutputLend(
      output, data, size, [](void* held) { delete static_cast<Owner*>(held); },
      new Owner(std::move(owner))));
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
