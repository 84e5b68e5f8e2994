// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "request/response_sink.h"

namespace nereid::request {

/// A sink that drops all responses, for requests that the server makes for its own purposes
/// (padding of batches, warm-up).
class DiscardingSink final : public ResponseSink {
 public:
  void Send(std::unique_ptr<InferenceResponse> /*response*/, bool /*final*/) noexcept override {}
};

}  // namespace nereid::request
