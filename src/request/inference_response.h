// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "memory/buffer_attributes.h"
#include "memory/host_buffer.h"
#include "memory/memory_type.h"
#include "request/model_identity.h"
#include "request/parameter.h"
#include "tensor/shape.h"

namespace nereid::request {

class InferenceResponse;
class ResponseFactory;
class ResponseSink;

/// One output tensor of a response. Its bytes belong to the response.
struct Output {
  std::string name;
  tensor::DataType type = tensor::DataType::kInvalid;
  tensor::Shape shape;  // as the client sees it, with the batch dimension
  char* data = nullptr;
  size_t size = 0;
  bool allocated = false;  // even a tensor of no bytes must be allocated, once
  memory::MemoryType memory_type = memory::MemoryType::kCpu;
  int64_t memory_type_id = 0;
  memory::HostBuffer owned;                              // what the default allocation uses
  std::shared_ptr<const void> lender;                    // or whose bytes these are
  void* allocator_data = nullptr;                        // for the sink that allocated the bytes
  InferenceResponse* response = nullptr;                 // the response that this is part of
  std::unique_ptr<memory::BufferAttributes> attributes;  // made when a plug-in asks
};

/// One answer to a request; a request has exactly one unless its model is decoupled. Made and
/// filled by one thread at a time (the plug-in's), then sent, then owned by the sink.
class InferenceResponse {
 public:
  /// Use ResponseFactory::NewResponse.
  explicit InferenceResponse(std::shared_ptr<ResponseFactory> factory);
  ~InferenceResponse();
  InferenceResponse(const InferenceResponse&) = delete;
  InferenceResponse& operator=(const InferenceResponse&) = delete;

  const ModelIdentity& model() const;
  const std::string& id() const;  // the request's

  /// Adds an output. ALREADY_EXISTS for a second one of that name. The pointer stays valid for
  /// the response's life.
  base::Result<Output*> AddOutput(std::string_view name, tensor::DataType type,
                                  tensor::Shape shape);

  /// Gives `output` its bytes, from the sink. `type` and `id` are the wish on entry, and what was
  /// given on return. ALREADY_EXISTS when called twice for an output.
  base::Status AllocateOutput(Output* output, size_t size, memory::MemoryType* type, int64_t* id);

  /// Gives `output` bytes that exist already, in host memory that is there for as long as `owner`:
  /// they are copied only where the sink has memory of its own. In the place of AllocateOutput.
  base::Status LendOutput(Output* output, char* data, size_t size,
                          std::shared_ptr<const void> owner);

  std::vector<std::unique_ptr<Output>>& outputs() { return outputs_; }
  const std::vector<std::unique_ptr<Output>>& outputs() const { return outputs_; }
  std::vector<Parameter>& parameters() { return parameters_; }
  const std::vector<Parameter>& parameters() const { return parameters_; }

  /// A response with an error has no outputs that count.
  const base::Status& error() const { return error_; }
  void SetError(base::Status error) { error_ = std::move(error); }

  ResponseFactory& factory() { return *factory_; }

 private:
  std::shared_ptr<ResponseFactory> factory_;
  std::vector<std::unique_ptr<Output>> outputs_;
  std::vector<Parameter> parameters_;
  base::Status error_;
};

}  // namespace nereid::request
