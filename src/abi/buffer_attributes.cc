// SPDX-License-Identifier: Apache-2.0
// TRITONSERVER_BufferAttributes*.
#include "memory/buffer_attributes.h"

#include <cstring>
#include <string>

#include "abi/error.h"
#include "abi/handle.h"
#include "abi/tensor_types.h"

using namespace nereid;

extern "C" {

TRITONSERVER_Error* TRITONSERVER_BufferAttributesNew(
    TRITONSERVER_BufferAttributes** buffer_attributes) {
  NEREID_CHECK_NOT_NULL(buffer_attributes);
  return abi::Guard([&] {
    *buffer_attributes = abi::Wrap<TRITONSERVER_BufferAttributes>(new memory::BufferAttributes());
    return base::Status::Ok();
  });
}

TRITONSERVER_Error* TRITONSERVER_BufferAttributesDelete(
    TRITONSERVER_BufferAttributes* buffer_attributes) {
  if (buffer_attributes != nullptr) delete &abi::Unwrap(buffer_attributes);
  return nullptr;
}

TRITONSERVER_Error* TRITONSERVER_BufferAttributesSetMemoryTypeId(
    TRITONSERVER_BufferAttributes* buffer_attributes, int64_t memory_type_id) {
  NEREID_CHECK_NOT_NULL(buffer_attributes);
  abi::Unwrap(buffer_attributes).memory_type_id = memory_type_id;
  return nullptr;
}

TRITONSERVER_Error* TRITONSERVER_BufferAttributesSetMemoryType(
    TRITONSERVER_BufferAttributes* buffer_attributes, TRITONSERVER_MemoryType memory_type) {
  NEREID_CHECK_NOT_NULL(buffer_attributes);
  return abi::Guard([&] {
    if (!abi::IsMemoryType(memory_type)) {
      return base::Status::InvalidArgument("unknown memory type " +
                                           std::to_string(static_cast<int>(memory_type)));
    }
    abi::Unwrap(buffer_attributes).memory_type = abi::ToMemoryType(memory_type);
    return base::Status::Ok();
  });
}

TRITONSERVER_Error* TRITONSERVER_BufferAttributesSetCudaIpcHandle(
    TRITONSERVER_BufferAttributes* buffer_attributes, void* cuda_ipc_handle) {
  NEREID_CHECK_NOT_NULL(buffer_attributes, cuda_ipc_handle);
  auto& handle = abi::Unwrap(buffer_attributes).cuda_ipc_handle.emplace();
  std::memcpy(handle.data(), cuda_ipc_handle, handle.size());
  return nullptr;
}

TRITONSERVER_Error* TRITONSERVER_BufferAttributesSetByteSize(
    TRITONSERVER_BufferAttributes* buffer_attributes, size_t byte_size) {
  NEREID_CHECK_NOT_NULL(buffer_attributes);
  abi::Unwrap(buffer_attributes).byte_size = byte_size;
  return nullptr;
}

TRITONSERVER_Error* TRITONSERVER_BufferAttributesMemoryTypeId(
    TRITONSERVER_BufferAttributes* buffer_attributes, int64_t* memory_type_id) {
  NEREID_CHECK_NOT_NULL(buffer_attributes, memory_type_id);
  *memory_type_id = abi::Unwrap(buffer_attributes).memory_type_id;
  return nullptr;
}

TRITONSERVER_Error* TRITONSERVER_BufferAttributesMemoryType(
    TRITONSERVER_BufferAttributes* buffer_attributes, TRITONSERVER_MemoryType* memory_type) {
  NEREID_CHECK_NOT_NULL(buffer_attributes, memory_type);
  *memory_type = abi::ToMemoryType(abi::Unwrap(buffer_attributes).memory_type);
  return nullptr;
}

TRITONSERVER_Error* TRITONSERVER_BufferAttributesCudaIpcHandle(
    TRITONSERVER_BufferAttributes* buffer_attributes, void** cuda_ipc_handle) {
  NEREID_CHECK_NOT_NULL(buffer_attributes, cuda_ipc_handle);
  auto& handle = abi::Unwrap(buffer_attributes).cuda_ipc_handle;
  *cuda_ipc_handle = handle ? handle->data() : nullptr;
  return nullptr;
}

TRITONSERVER_Error* TRITONSERVER_BufferAttributesByteSize(
    TRITONSERVER_BufferAttributes* buffer_attributes, size_t* byte_size) {
  NEREID_CHECK_NOT_NULL(buffer_attributes, byte_size);
  *byte_size = abi::Unwrap(buffer_attributes).byte_size;
  return nullptr;
}

}  // extern "C"
