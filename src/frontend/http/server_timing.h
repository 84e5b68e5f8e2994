// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "request/inference_request.h"
#include "request/response_sink.h"

namespace nereid::frontend::http {

/// The field Server-Timing of one reply (W3C), for a client that has asked for it. It is complete
/// only when the backend has released the request, because backends report their times after their
/// responses.
class ServerTiming {
 public:
  /// Makes `request` record its times. Returns a sink that forwards to `sink`, and that holds the
  /// final response back until the request is released. Must be called before the submission.
  static std::shared_ptr<ServerTiming> Begin(request::InferenceRequest& request,
                                             std::shared_ptr<request::ResponseSink>* sink);

  /// Returns the whole line. Must be called after the final response.
  const std::string& field() const { return field_; }

 private:
  class HoldingSink;
  void End(const request::InferenceRequest& request);

  std::string field_;
};

}  // namespace nereid::frontend::http
