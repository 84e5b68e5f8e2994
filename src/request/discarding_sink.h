// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "request/response_sink.h"

namespace nereid::request {

/// A sink for requests whose responses nobody wants.
class DiscardingSink final : public ResponseSink {
 public:
  void Send(std::unique_ptr<InferenceResponse> /*response*/, bool /*final*/) noexcept override {}
};

}  // namespace nereid::request
