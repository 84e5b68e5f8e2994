// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/access/caller.h"
#include "frontend/http/request_path.h"
#include "tracing/trace_context.h"

namespace nereid::frontend::http {

enum class Method { kGet, kHead, kPost, kPut, kDelete, kOptions, kOther };

/// Returns whether the reply is that of GET. The reply to HEAD lacks only the body.
inline bool IsRead(Method method) { return method == Method::kGet || method == Method::kHead; }

/// Returns the field Allow, which a reply with the status 405 has, as a whole line.
std::string AllowField(std::span<const Method> methods);

/// The part of a request's head that the server uses. Reused from request to request, so that its
/// texts keep their memory.
struct RequestHead {
  Method method = Method::kOther;
  /// The target as the client wrote it; SetTarget() sets it and the path.
  std::string target;
  RequestPath decoded_path;
  RequestPath redirect;  // see Exchange::Redirect
  /// The size of the JSON part: the field Inference-Header-Content-Length, or a parameter of the
  /// Content-Type (see HttpServerOptions::binary_type).
  std::optional<std::string> inference_header_length;
  bool json_size_in_type = false;  // it is a parameter of the Content-Type
  std::string content_encoding;
  std::string accept_encoding;
  std::string origin;  // of the web page whose script sends the request; empty: no such page
  std::string accept;
  /// The fields that the server's FieldFilter keeps, in order.
  std::vector<api::HeaderField> fields;
  tracing::TraceHeaders trace;   // filled only if the server's options ask for it
  bool asks_for_method = false;  // Access-Control-Request-Method
  bool wants_timing = false;     // Prefer: server-timing
  bool keep_alive = true;
  bool expects_continue = false;
  /// How long the client waits: the shorter one of the fields grpc-timeout and
  /// x-envoy-expected-rq-timeout-ms.
  std::optional<uint64_t> timeout_ns;
  std::string bad_timeout;   // why one of these fields cannot be parsed; empty if both can
  uint64_t deadline_ns = 0;  // when the client stops waiting, monotonic; 0: never
  bool is_http_1_0 = false;  // the client does not understand a chunked body

  /// Returns whether a browser asks if a script of `origin` may send a request.
  bool IsPreflight() const {
    return method == Method::kOptions && asks_for_method && !origin.empty();
  }
  /// Returns whether the client has stopped waiting.
  bool IsTooLate() const;
  /// Returns false if the path is malformed; see RequestPath::Assign.
  bool SetTarget(std::string_view text) {
    target.assign(text);
    return decoded_path.Assign(text);
  }
  /// Returns the target without its query, decoded.
  PathView path() const { return decoded_path.view(); }
  void Clear();
};

/// Returns "GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS" or, for the other methods, "OTHER".
std::string_view MethodName(Method method);

/// Writes Triton's line about a request to the verbose log; `error_status` is the status of a
/// request that failed, or 0. `service` is Triton's word for the server.
void LogRequest(const RequestHead& head, int error_status = 0, std::string_view service = "HTTP");

}  // namespace nereid::frontend::http
