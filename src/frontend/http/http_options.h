// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/field_filter.h"
#include "base/byte_budget.h"
#include "frontend/net/connection_limit.h"
#include "frontend/net/tls_settings.h"

namespace nereid::frontend::http {

class CorsPolicy;

/// The parameter of HttpServerOptions::binary_type that has the size of the JSON part.
inline constexpr std::string_view kJsonSizeParameter = "json-header-size";

/// Settings of an HttpServer.
struct HttpServerOptions {
  std::string address = "0.0.0.0";
  uint16_t port = 8000;  // 0: the kernel chooses
  /// The number of event loops, each with its own thread; 0: one for each CPU.
  int threads = 0;
  /// Whether other processes may serve the same port.
  bool reuse_port = false;
  /// The mode of the file if `address` is a Unix socket.
  mode_t unix_socket_mode = 0660;
  /// The maximum size of a body as received, before it is inflated. The memory for a body grows
  /// with the bytes that arrive.
  uint64_t max_body_size = uint64_t{2} << 30;
  uint32_t max_head_size = 16 << 10;
  /// The maximum number of header fields, and of trailer fields together with them.
  uint32_t max_fields = 256;
  /// The maximum number of requests in progress in one connection of HTTP/2.
  uint32_t max_concurrent_streams = 128;
  /// Chooses the content of RequestHead::fields. Null: nothing.
  std::shared_ptr<const api::FieldFilter> kept_fields = nullptr;
  /// Whether Exchange::peer() is known.
  bool identifies_peers = false;
  /// Whether a request over a Unix socket may bring a descriptor (Exchange::TakeDescriptor).
  bool receives_descriptors = false;
  /// Whether RequestHead::trace has the headers of W3C trace contexts.
  bool keep_trace_headers = false;
  /// The media type of requests with binary tensors whose parameter kJsonSizeParameter has the size
  /// of their JSON part; a literal. Empty: there is none. A request may have the field
  /// Inference-Header-Content-Length in any case.
  std::string_view binary_type = {};
  /// Whether each finished request has a line in the log.
  bool access_log = false;

  // How long a client may take; 0: for ever. Checked about once a second.
  std::chrono::milliseconds head_timeout{60'000};     // for a connection's first byte; for a head
  std::chrono::milliseconds stall_timeout{60'000};    // for 16 KiB of a body, or a part of a reply
  std::chrono::milliseconds idle_timeout{3'600'000};  // between requests

  /// How long a client that has finished sending (FIN) may wait for its reply before the server
  /// sends it "100 Continue", to find out whether it is still there.
  std::chrono::milliseconds half_closed_patience{3000};

  /// How many bytes of a streamed reply may wait for the client, and how long a backend that has
  /// more to send waits before its request is ended; see docs/user/streaming.md.
  size_t max_waiting_bytes = size_t{64} << 20;
  std::chrono::milliseconds slow_reader_patience{5000};

  /// Bounds the memory of all requests that are being received or executed, together with the other
  /// users of the budget. Null: no bound.
  std::shared_ptr<base::ByteBudget> receive_budget = nullptr;

  /// Bounds the open connections, together with the other servers that have it. Null: no bound.
  std::shared_ptr<net::ConnectionLimit> connection_limit = nullptr;

  /// The certificate files of TLS; not set: the connections are not encrypted.
  std::optional<net::TlsFiles> tls = std::nullopt;

  /// Which web pages may use the server; null: none but its own, of which it has none.
  std::shared_ptr<const CorsPolicy> cors = nullptr;

  /// Fields of each reply beside Date, as whole lines.
  std::string server_fields = {};

  std::string thread_name = "http";
};

}  // namespace nereid::frontend::http
