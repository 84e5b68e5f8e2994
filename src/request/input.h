// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "memory/buffer_attributes.h"
#include "memory/memory_type.h"
#include "tensor/shape.h"

namespace nereid::request {

/// A contiguous piece of an input's bytes. Not owned; the memory must live until the request is
/// released (see InferenceRequest::Hold).
struct InputPiece {
  const char* data = nullptr;
  size_t size = 0;
  memory::MemoryType memory_type = memory::MemoryType::kCpu;
  int64_t memory_type_id = 0;
};

/// An input's bytes for the instances of one host policy.
struct PolicyData {
  std::string host_policy;
  std::vector<InputPiece> pieces;
};

/// One input tensor of a request.
struct Input {
  std::string name;
  tensor::DataType type = tensor::DataType::kInvalid;
  bool in_shared_memory = false;  // the client can change the bytes of `pieces` at any time
  tensor::Shape shape;            // as the client sent it, with the batch dimension
  tensor::Shape model_shape;      // as the backend sees it, after the reshape; set by Normalize
  std::vector<InputPiece> pieces;
  std::vector<std::unique_ptr<memory::BufferAttributes>> attributes;  // made when a plug-in asks

  /// The same content again in memory that suits the instances of some host policies better. Empty
  /// for most requests.
  std::vector<PolicyData> policy_data;

  /// Returns the pieces that instances of this host policy read.
  const std::vector<InputPiece>& PiecesFor(std::string_view host_policy) const {
    for (const PolicyData& data : policy_data) {
      if (data.host_policy == host_policy) return data.pieces;
    }
    return pieces;
  }

  void Append(const void* data, size_t size,
              memory::MemoryType memory_type = memory::MemoryType::kCpu,
              int64_t memory_type_id = 0) {
    pieces.push_back({static_cast<const char*>(data), size, memory_type, memory_type_id});
  }

  /// Returns the size of all pieces. The pieces refer to existing memory, so the sum cannot
  /// overflow.
  uint64_t ByteSize() const {
    uint64_t size = 0;
    for (const InputPiece& piece : pieces) size += piece.size;
    return size;
  }
};

}  // namespace nereid::request
