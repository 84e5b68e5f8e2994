// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "memory/memory_type.h"
#include "request/model_identity.h"
#include "request/output.h"
#include "request/parameter.h"
#include "request/response_origin.h"
#include "tensor/shape.h"

namespace nereid::request {

/// One response to a request. A request has exactly one unless its model is decoupled. Used by one
/// thread at a time: the plug-in fills and sends it, then the sink owns it.
class InferenceResponse {
 public:
  /// For ResponseFactory::NewResponse; other code calls that function.
  explicit InferenceResponse(std::shared_ptr<ResponseOrigin> origin);
  ~InferenceResponse();
  InferenceResponse(const InferenceResponse&) = delete;
  InferenceResponse& operator=(const InferenceResponse&) = delete;

  const ModelIdentity& model() const { return origin_->model(); }
  const std::string& id() const { return origin_->id(); }  // the request's

  /// Adds an output without bytes. Returns ALREADY_EXISTS for a second output of the same name. The
  /// pointer is valid as long as the response.
  base::Result<Output*> AddOutput(std::string_view name, tensor::DataType type,
                                  tensor::Shape shape);

  /// Gets memory for `size` bytes of `output` from the sink. `type` and `id` are the preferred
  /// memory on entry and the actual memory on return. Returns ALREADY_EXISTS if the output has its
  /// bytes already.
  base::Status AllocateOutput(Output* output, size_t size, memory::MemoryType* type, int64_t* id);

  /// Sets existing bytes as the output's content instead of AllocateOutput. They are copied only if
  /// the sink has memory of its own, or needs those of a GPU in host memory.
  base::Status LendOutput(Output* output, LentBytes bytes);

  std::vector<std::unique_ptr<Output>>& outputs() { return outputs_; }
  const std::vector<std::unique_ptr<Output>>& outputs() const { return outputs_; }
  std::vector<Parameter>& parameters() { return parameters_; }
  const std::vector<Parameter>& parameters() const { return parameters_; }

  /// Returns the response's error. The outputs of a response with an error must be ignored.
  const base::Status& error() const { return error_; }
  void SetError(base::Status error) { error_ = std::move(error); }

  const std::shared_ptr<ResponseOrigin>& origin() const { return origin_; }

 private:
  friend class ResponseQueue;

  std::shared_ptr<ResponseOrigin> origin_;
  std::vector<std::unique_ptr<Output>> outputs_;
  std::vector<Parameter> parameters_;
  base::Status error_;
  std::unique_ptr<InferenceResponse> next_;  // in a ResponseQueue
};

}  // namespace nereid::request
