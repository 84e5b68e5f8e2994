// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "memory/buffer_attributes.h"
#include "memory/gpu/device_buffer.h"
#include "memory/host_buffer.h"
#include "memory/memory_type.h"
#include "tensor/data_type.h"
#include "tensor/shape.h"

namespace nereid::request {

class InferenceResponse;

/// Existing bytes that become the content of an output.
struct LentBytes {
  char* data = nullptr;
  size_t size = 0;
  std::shared_ptr<const void> owner = nullptr;  // keeps the bytes alive
  memory::MemoryType memory_type = memory::MemoryType::kCpu;
  int64_t memory_type_id = 0;
  /// Whether another process can write to the bytes until they are released. Who reads them must
  /// then be prepared for any content, and for a different one at each look.
  bool may_change = false;
};

/// One output tensor of a response. The response owns the bytes.
struct Output {
  std::string name;
  tensor::DataType type = tensor::DataType::kInvalid;
  tensor::Shape shape;  // as the client sees it, with the batch dimension
  char* data = nullptr;
  size_t size = 0;
  bool allocated = false;         // also a tensor of zero bytes must be allocated, exactly once
  bool in_shared_memory = false;  // the client finds the bytes there, so no message has them
  memory::MemoryType memory_type = memory::MemoryType::kCpu;
  int64_t memory_type_id = 0;
  memory::HostBuffer owned;               // the bytes, where the default allocation is used
  memory::DeviceBuffer device;            // the bytes, where a sink took them from a GPU's pool
  std::shared_ptr<const void> lender;     // the owner of the bytes, where they were lent
  void* allocator_data = nullptr;         // for use by the sink that allocated the bytes
  InferenceResponse* response = nullptr;  // the response that owns this output
  std::unique_ptr<memory::BufferAttributes> attributes;  // created when a plug-in asks

  /// Returns the bytes that the message of the response contains.
  std::string_view MessageBytes() const {
    return in_shared_memory ? std::string_view() : std::string_view(data, size);
  }
};

}  // namespace nereid::request
