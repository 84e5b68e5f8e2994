// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string_view>

#include "base/result.h"
#include "curl/http_message.h"

namespace nereid::curl {

/// What receives a response while it arrives. Each function may be empty.
struct HttpReceiver {
  /// Called once, before the body of a response with a status of 200 … 299. An error ends the
  /// request, which returns that error.
  std::function<base::Status(const HttpResponse& head)> head = {};
  /// Receives the body of a response with a status of 200 … 299, piece by piece. An error ends the
  /// request, which returns that error. If empty, the body is collected in HttpResponse::body.
  std::function<base::Status(std::string_view)> body = {};
  /// Called at least once a second, also while nothing arrives.
  std::function<bool()> is_cancelled = {};
};

/// Sends HTTP requests. Thread-safe; each call blocks until its request has ended and makes one
/// attempt.
class HttpClient {
 public:
  virtual ~HttpClient() = default;

  /// Sends a request and returns the response, whatever its status is. Errors:
  /// - UNAVAILABLE: no connection, no such host, a time-out, a response that was cut off, no
  /// memory.
  /// - CANCELLED: `is_cancelled` returned true.
  /// - INVALID_ARGUMENT: the request cannot be sent, or the server's certificate is not trusted.
  /// - INTERNAL: the response is not HTTP, or larger than HttpRequest::max_body without a receiver
  ///   of its body; or the server reset a stream of HTTP/2.
  /// - the error of a receiver.
  virtual base::Result<HttpResponse> Send(const HttpRequest& request,
                                          const HttpReceiver& receiver) = 0;

  base::Result<HttpResponse> Send(const HttpRequest& request) {
    return Send(request, HttpReceiver());
  }
};

}  // namespace nereid::curl
