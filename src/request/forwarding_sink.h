// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "request/response_sink.h"

namespace nereid::request {

/// A sink in front of another one; the base of sinks that observe or change responses (ordering,
/// caching). Forwards every call; a derived class overrides what it needs. Installed with
/// ResponseFactory::WrapSink.
class ForwardingSink : public ResponseSink {
 public:
  explicit ForwardingSink(std::shared_ptr<ResponseSink> next) : next_(std::move(next)) {}

  void Send(std::unique_ptr<InferenceResponse> response, bool final) noexcept override {
    next_->Send(std::move(response), final);
  }
  void RequestReleased(std::unique_ptr<InferenceRequest> request) noexcept override {
    next_->RequestReleased(std::move(request));
  }
  base::Status ResponseStarted() noexcept override { return next_->ResponseStarted(); }
  base::Status AllocateOutput(Output* output, size_t size) noexcept override {
    return next_->AllocateOutput(output, size);
  }
  base::Status LendOutput(Output* output, LentBytes bytes) noexcept override {
    return next_->LendOutput(output, std::move(bytes));
  }
  void ReleaseOutput(Output* output) noexcept override { next_->ReleaseOutput(output); }
  base::Status QueryOutput(std::string_view name, size_t* size, memory::MemoryType* type,
                           int64_t* id) noexcept override {
    return next_->QueryOutput(name, size, type, id);
  }

 protected:
  ResponseSink& next() { return *next_; }

 private:
  const std::shared_ptr<ResponseSink> next_;
};

}  // namespace nereid::request
