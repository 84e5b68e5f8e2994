// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "request/forwarding_sink.h"
#include "request/trace.h"

namespace nereid::request {

/// Records the responses of a traced request. It is next to the sink of the request: a response
/// that another sink holds back, because responses are sent in the order of the requests, is
/// recorded at the time when it may go, as in Triton.
class TracedSink final : public ForwardingSink {
 public:
  TracedSink(std::shared_ptr<ResponseSink> next, std::shared_ptr<Trace> trace)
      : ForwardingSink(std::move(next)), trace_(std::move(trace)) {}

  void Send(std::unique_ptr<InferenceResponse> response, bool final) noexcept override;

 private:
  const std::shared_ptr<Trace> trace_;
};

}  // namespace nereid::request
