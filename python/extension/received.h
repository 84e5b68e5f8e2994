// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "triton/core/tritonserver.h"

namespace nereid::python {

/// The memory of an output: shared by the engine's response, until that is deleted, and the arrays
/// that Python has made of it.
using OutputBuffer = std::shared_ptr<void>;

struct ReceivedParameter {
  std::string name;
  std::variant<std::string, int64_t, bool, double> value;
};

struct ReceivedOutput {
  std::string name;
  TRITONSERVER_DataType type = TRITONSERVER_TYPE_INVALID;
  std::vector<int64_t> shape;
  const void* data = nullptr;
  size_t byte_size = 0;
  TRITONSERVER_MemoryType memory_type = TRITONSERVER_MEMORY_CPU;
  int64_t memory_type_id = 0;
  OutputBuffer buffer;
};

/// The content of a response, taken out of the engine's object. That object keeps its model from
/// being unloaded, and Python code may keep responses for long.
struct Received {
  std::string model;
  int64_t version = 0;
  std::string request_id;
  std::vector<ReceivedParameter> parameters;
  std::vector<ReceivedOutput> outputs;
  int error_code = -1;  // -1: no error
  std::string error_message;
};

/// Takes the content out of a response that OutputAllocator() served, and deletes the response.
/// Throws std::bad_alloc; the response is deleted also then.
std::shared_ptr<Received> TakeContent(TRITONSERVER_InferenceResponse* response);

/// Returns the allocator of all requests: outputs are in host memory, aligned to 64 bytes. Null if
/// the engine could not make it.
TRITONSERVER_ResponseAllocator* OutputAllocator();

}  // namespace nereid::python
