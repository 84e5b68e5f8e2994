// SPDX-License-Identifier: Apache-2.0
// TRITONBACKEND_Input* and TRITONBACKEND_Output*.
#include <algorithm>
#include <memory>
#include <utility>

#include "abi/error.h"
#include "abi/handle.h"
#include "abi/tensor_types.h"
#include "nereid/backend/lent_output.h"
#include "request/inference_response.h"
#include "request/input.h"

using nereid::abi::Guard;
using nereid::abi::OutOfBounds;
using nereid::abi::ToDataType;
using nereid::abi::ToMemoryType;
using nereid::abi::Unwrap;
using nereid::abi::Wrap;
using nereid::base::Status;
using nereid::memory::BufferAttributes;
using nereid::request::InputPiece;

namespace {

/// `host_policy` may be null.
const std::vector<InputPiece>& PiecesFor(TRITONBACKEND_Input* input, const char* host_policy) {
  return host_policy == nullptr ? Unwrap(input).pieces : Unwrap(input).PiecesFor(host_policy);
}

/// Some plug-ins ask for the first buffer of an input without checking that it has one (the Python
/// backend does for empty tensors). They get a buffer of zero bytes.
bool IsFirstOfNone(const std::vector<InputPiece>& pieces, uint32_t index) {
  return index == 0 && pieces.empty();
}

}  // namespace

extern "C" {

TRITONSERVER_Error* TRITONBACKEND_InputProperties(TRITONBACKEND_Input* input, const char** name,
                                                  TRITONSERVER_DataType* datatype,
                                                  const int64_t** shape, uint32_t* dims_count,
                                                  uint64_t* byte_size, uint32_t* buffer_count) {
  NEREID_CHECK_NOT_NULL(input);
  const auto& tensor = Unwrap(input);
  if (name != nullptr) *name = tensor.name.c_str();
  if (datatype != nullptr) *datatype = ToDataType(tensor.type);
  if (shape != nullptr) *shape = tensor.model_shape.data();
  if (dims_count != nullptr) *dims_count = static_cast<uint32_t>(tensor.model_shape.size());
  if (byte_size != nullptr) *byte_size = tensor.ByteSize();
  if (buffer_count != nullptr) *buffer_count = static_cast<uint32_t>(tensor.pieces.size());
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_InputPropertiesForHostPolicy(
    TRITONBACKEND_Input* input, const char* host_policy_name, const char** name,
    TRITONSERVER_DataType* datatype, const int64_t** shape, uint32_t* dims_count,
    uint64_t* byte_size, uint32_t* buffer_count) {
  NEREID_CHECK_NOT_NULL(input);
  const std::vector<InputPiece>& pieces = PiecesFor(input, host_policy_name);
  if (byte_size != nullptr) {
    *byte_size = 0;
    for (const InputPiece& piece : pieces) *byte_size += piece.size;
  }
  if (buffer_count != nullptr) *buffer_count = static_cast<uint32_t>(pieces.size());
  return TRITONBACKEND_InputProperties(input, name, datatype, shape, dims_count, nullptr, nullptr);
}

TRITONSERVER_Error* TRITONBACKEND_InputBuffer(TRITONBACKEND_Input* input, const uint32_t index,
                                              const void** buffer, uint64_t* buffer_byte_size,
                                              TRITONSERVER_MemoryType* memory_type,
                                              int64_t* memory_type_id) {
  return TRITONBACKEND_InputBufferForHostPolicy(input, nullptr, index, buffer, buffer_byte_size,
                                                memory_type, memory_type_id);
}

TRITONSERVER_Error* TRITONBACKEND_InputBufferForHostPolicy(
    TRITONBACKEND_Input* input, const char* host_policy_name, const uint32_t index,
    const void** buffer, uint64_t* buffer_byte_size, TRITONSERVER_MemoryType* memory_type,
    int64_t* memory_type_id) {
  NEREID_CHECK_NOT_NULL(input, buffer, buffer_byte_size, memory_type, memory_type_id);
  const std::vector<InputPiece>& pieces = PiecesFor(input, host_policy_name);
  if (IsFirstOfNone(pieces, index)) {
    *buffer = nullptr;
    *buffer_byte_size = 0;
    *memory_type = TRITONSERVER_MEMORY_CPU;
    *memory_type_id = 0;
    return nullptr;
  }
  if (index >= pieces.size()) {
    return Guard([&] { return OutOfBounds(index, pieces.size(), "input buffers"); });
  }
  const InputPiece& piece = pieces[index];
  *buffer = piece.data;
  *buffer_byte_size = piece.size;
  *memory_type = ToMemoryType(piece.memory_type);
  *memory_type_id = piece.memory_type_id;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_InputBufferAttributes(
    TRITONBACKEND_Input* input, const uint32_t index, const void** buffer,
    TRITONSERVER_BufferAttributes** buffer_attributes) {
  NEREID_CHECK_NOT_NULL(input, buffer, buffer_attributes);
  return Guard([&] {
    auto& tensor = Unwrap(input);
    const bool none = IsFirstOfNone(tensor.pieces, index);
    if (!none && index >= tensor.pieces.size()) {
      return OutOfBounds(index, tensor.pieces.size(), "input buffers");
    }
    const InputPiece piece = none ? InputPiece{} : tensor.pieces[index];
    tensor.attributes.resize(std::max<size_t>(tensor.pieces.size(), 1));
    auto& attributes = tensor.attributes[index];
    if (attributes == nullptr) {
      attributes = std::make_unique<BufferAttributes>(
          BufferAttributes{piece.memory_type, piece.memory_type_id, piece.size, {}});
    }
    *buffer = piece.data;
    *buffer_attributes = Wrap<TRITONSERVER_BufferAttributes>(attributes.get());
    return Status::Ok();
  });
}

TRITONSERVER_Error* TRITONBACKEND_OutputBuffer(TRITONBACKEND_Output* output, void** buffer,
                                               const uint64_t buffer_byte_size,
                                               TRITONSERVER_MemoryType* memory_type,
                                               int64_t* memory_type_id) {
  NEREID_CHECK_NOT_NULL(output, buffer, memory_type, memory_type_id);
  return Guard([&] {
    auto& tensor = Unwrap(output);
    auto type = ToMemoryType(*memory_type);
    NEREID_RETURN_IF_ERROR(
        tensor.response->AllocateOutput(&tensor, buffer_byte_size, &type, memory_type_id));
    *memory_type = ToMemoryType(type);
    *buffer = tensor.data;
    return Status::Ok();
  });
}

TRITONSERVER_Error* NEREID_OutputLend(TRITONBACKEND_Output* output, const void* base,
                                      uint64_t byte_size, void (*release)(void* userp),
                                      void* userp) {
  NEREID_CHECK_NOT_NULL(output, base, release);
  return Guard([&] {
    // Releases the bytes also if the allocation of the reference count fails.
    std::shared_ptr<const void> owner(base, [release, userp](const void*) { release(userp); });
    auto& tensor = Unwrap(output);
    if (tensor.type == nereid::tensor::DataType::kBytes) {
      return Status::InvalidArgument("output '" + tensor.name + "' is BYTES, which cannot be lent");
    }
    nereid::request::LentBytes bytes;
    bytes.data = const_cast<char*>(static_cast<const char*>(base));
    bytes.size = byte_size;
    bytes.owner = std::move(owner);
    bytes.may_change = true;
    return tensor.response->LendOutput(&tensor, std::move(bytes));
  });
}

TRITONSERVER_Error* TRITONBACKEND_OutputBufferAttributes(
    TRITONBACKEND_Output* output, TRITONSERVER_BufferAttributes** buffer_attributes) {
  NEREID_CHECK_NOT_NULL(output, buffer_attributes);
  return Guard([&] {
    auto& tensor = Unwrap(output);
    if (!tensor.allocated) {
      return Status::InvalidArgument("output '" + tensor.name + "' has no buffer yet");
    }
    if (tensor.attributes == nullptr) {
      tensor.attributes = std::make_unique<BufferAttributes>(
          BufferAttributes{tensor.memory_type, tensor.memory_type_id, tensor.size, {}});
    }
    *buffer_attributes = Wrap<TRITONSERVER_BufferAttributes>(tensor.attributes.get());
    return Status::Ok();
  });
}

}  // extern "C"
