// SPDX-License-Identifier: Apache-2.0
#include "python/extension/received.h"

#include <cstdlib>
#include <new>

namespace nereid::python {
namespace {

/// What the widest vector instructions of a CPU load at once.
constexpr size_t kAlignment = 64;

TRITONSERVER_Error* NoMemory(const char* name, size_t size) {
  const std::string message = "no memory for output '" + std::string(name) + "', which has " +
                              std::to_string(size) + " bytes";
  return TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_UNAVAILABLE, message.c_str());
}

TRITONSERVER_Error* Allocate(TRITONSERVER_ResponseAllocator*, const char* name, size_t size,
                             TRITONSERVER_MemoryType, int64_t, void*, void** buffer,
                             void** buffer_userp, TRITONSERVER_MemoryType* type, int64_t* type_id) {
  *buffer = nullptr;
  *buffer_userp = nullptr;
  *type = TRITONSERVER_MEMORY_CPU;
  *type_id = 0;
  if (size == 0) return nullptr;
  void* memory = nullptr;
  if (posix_memalign(&memory, kAlignment, size) != 0) return NoMemory(name, size);
  try {
    *buffer_userp = new OutputBuffer(memory, std::free);  // frees `memory` if it throws
  } catch (const std::bad_alloc&) {
    return NoMemory(name, size);
  }
  *buffer = memory;
  return nullptr;
}

TRITONSERVER_Error* Release(TRITONSERVER_ResponseAllocator*, void*, void* buffer_userp, size_t,
                            TRITONSERVER_MemoryType, int64_t) {
  delete static_cast<OutputBuffer*>(buffer_userp);
  return nullptr;
}

/// Deletes the errors of calls that can fail for arguments out of range only.
void Expect(TRITONSERVER_Error* error) { TRITONSERVER_ErrorDelete(error); }

ReceivedParameter TakeParameter(TRITONSERVER_InferenceResponse* response, uint32_t index) {
  const char* name = "";
  TRITONSERVER_ParameterType type = TRITONSERVER_PARAMETER_STRING;
  const void* value = "";
  Expect(TRITONSERVER_InferenceResponseParameter(response, index, &name, &type, &value));
  switch (type) {
    case TRITONSERVER_PARAMETER_INT:
      return {name, *static_cast<const int64_t*>(value)};
    case TRITONSERVER_PARAMETER_BOOL:
      return {name, *static_cast<const bool*>(value)};
    case TRITONSERVER_PARAMETER_DOUBLE:
      return {name, *static_cast<const double*>(value)};
    default:
      return {name, std::string(static_cast<const char*>(value))};
  }
}

ReceivedOutput TakeOutput(TRITONSERVER_InferenceResponse* response, uint32_t index) {
  ReceivedOutput output;
  const char* name = "";
  const int64_t* shape = nullptr;
  uint64_t dim_count = 0;
  void* userp = nullptr;
  Expect(TRITONSERVER_InferenceResponseOutput(response, index, &name, &output.type, &shape,
                                              &dim_count, &output.data, &output.byte_size,
                                              &output.memory_type, &output.memory_type_id, &userp));
  output.name = name;
  output.shape.assign(shape, shape + dim_count);
  if (userp != nullptr) output.buffer = *static_cast<OutputBuffer*>(userp);
  return output;
}

void TakeAll(TRITONSERVER_InferenceResponse* response, Received* received) {
  const char* text = nullptr;
  Expect(TRITONSERVER_InferenceResponseModel(response, &text, &received->version));
  if (text != nullptr) received->model = text;
  text = nullptr;
  Expect(TRITONSERVER_InferenceResponseId(response, &text));
  if (text != nullptr) received->request_id = text;
  uint32_t count = 0;
  Expect(TRITONSERVER_InferenceResponseParameterCount(response, &count));
  for (uint32_t i = 0; i < count; ++i) {
    received->parameters.push_back(TakeParameter(response, i));
  }
  TRITONSERVER_Error* const error = TRITONSERVER_InferenceResponseError(response);
  if (error != nullptr) {
    received->error_code = TRITONSERVER_ErrorCode(error);
    received->error_message = TRITONSERVER_ErrorMessage(error);
    return;  // the outputs of a failed response are not valid
  }
  count = 0;
  Expect(TRITONSERVER_InferenceResponseOutputCount(response, &count));
  received->outputs.reserve(count);
  for (uint32_t i = 0; i < count; ++i) received->outputs.push_back(TakeOutput(response, i));
}

}  // namespace

std::shared_ptr<Received> TakeContent(TRITONSERVER_InferenceResponse* response) {
  const std::unique_ptr<TRITONSERVER_InferenceResponse, void (*)(TRITONSERVER_InferenceResponse*)>
      owned(response, [](TRITONSERVER_InferenceResponse* used) {
        Expect(TRITONSERVER_InferenceResponseDelete(used));
      });
  auto received = std::make_shared<Received>();
  TakeAll(response, received.get());
  return received;
}

TRITONSERVER_ResponseAllocator* OutputAllocator() {
  static TRITONSERVER_ResponseAllocator* const allocator = [] {
    TRITONSERVER_ResponseAllocator* made = nullptr;
    Expect(TRITONSERVER_ResponseAllocatorNew(&made, Allocate, Release, nullptr));
    return made;
  }();
  return allocator;
}

}  // namespace nereid::python
