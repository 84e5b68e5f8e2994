// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "api/access/access_gate.h"
#include "api/field_filter.h"
#include "api/input_memory.h"
#include "base/byte_budget.h"
#include "frontend/http2/keep_alive.h"
#include "frontend/net/connection_limit.h"
#include "frontend/net/tls_settings.h"
#include "tracing/request_tracer.h"

namespace nereid::frontend::grpc {

/// The compression of ModelInfer and ModelStreamInfer responses, if the client accepts one.
enum class CompressionLevel { kNone, kLow, kMedium, kHigh };

struct GrpcOptions {
  std::string address = "0.0.0.0";
  /// 0: the kernel chooses a port; see GrpcServer::port().
  uint16_t port = 8001;
  /// Whether other processes may serve the same port too.
  bool reuse_port = false;
  /// The mode of the file if `address` is a Unix socket.
  mode_t unix_socket_mode = 0660;
  /// The number of event loops, each with its own thread; 0: one for each CPU.
  int loops = 0;
  CompressionLevel response_compression = CompressionLevel::kNone;
  /// Whether a cheap model may run on the event loop that received the request.
  bool run_inline = true;
  /// Whether each finished call, and each request of a stream, has a line in the log.
  bool access_log = false;
  /// Selects the requests that are traced. It must outlive the server. Null: none is traced.
  tracing::RequestTracer* tracer = nullptr;
  /// Decides who may call what. Null: everyone may do everything.
  std::shared_ptr<const api::AccessGate> gate = nullptr;
  /// Chooses the metadata that calls keep: what the gate needs, and what is forwarded to models.
  /// Null: nothing.
  std::shared_ptr<const api::FieldFilter> kept_fields = nullptr;
  /// The metadata whose value names the sequence of a request that names none; it must be among
  /// kept_fields. Empty: there is none.
  std::string sequence_field = {};
  /// The value of api::kReplicaField in the initial metadata of each answer; empty: there is none.
  std::string replica = {};
  /// The maximum size of a request message in bytes. The default is gRPC's own limit.
  size_t max_message_size = 0x7fffffff;
  /// Limits the memory of all requests that are received or in progress. It may be shared with
  /// other front ends. Null: no limit.
  std::shared_ptr<base::ByteBudget> receive_budget = nullptr;
  /// Where the tensors of large requests are received. Null: in memory of the front end.
  api::InputMemorySource take_input_memory = nullptr;
  /// Bounds the open connections, together with the other servers that have it. Null: no bound.
  std::shared_ptr<net::ConnectionLimit> connection_limit = nullptr;
  /// The certificate files of TLS; not set: the connections are not encrypted.
  std::optional<net::TlsFiles> tls = std::nullopt;
  /// The maximum bytes of a stream's responses that wait for its client, and the time that a
  /// backend with more responses is blocked before its request ends; see docs/user/streaming.md.
  size_t max_waiting_bytes = size_t{64} << 20;
  /// The maximum number of a stream's responses of decoupled models that wait, likewise.
  size_t max_waiting_responses = INT_MAX;
  std::chrono::milliseconds slow_reader_patience{5000};
  /// The maximum number of calls in progress in one connection. All threads of a client usually
  /// share a connection.
  uint32_t max_concurrent_streams = 4096;
  /// The maximum bytes of a call's metadata, counted as HTTP/2 does: 32 more for each header.
  uint32_t max_metadata_size = 16384;
  http2::KeepAliveOptions keep_alive = {};
  /// The time after which a call ends whose client sends no byte of a message that it has begun, or
  /// of the only message of a call, or reads no byte of a complete response.
  std::chrono::milliseconds stall_timeout{60'000};
};

}  // namespace nereid::frontend::grpc
