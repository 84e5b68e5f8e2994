// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/byte_budget.h"
#include "frontend/grpc/keep_alive.h"
#include "frontend/net/connection_limit.h"
#include "tracing/request_tracer.h"

namespace nereid::frontend::grpc {

/// Of ModelInfer and ModelStreamInfer responses, where the client accepts it.
enum class CompressionLevel { kNone, kLow, kMedium, kHigh };

struct GrpcOptions {
  std::string address = "0.0.0.0";
  /// 0: the kernel chooses; see GrpcServer::port().
  uint16_t port = 8001;
  /// Lets other processes serve the same port too.
  bool reuse_port = false;
  /// Event loops, each with a thread of its own; 0 = one for each CPU.
  int loops = 0;
  CompressionLevel response_compression = CompressionLevel::kNone;
  /// Whether a cheap model may run on the event loop that received the request.
  bool run_inline = true;
  /// Which requests are traced; it must outlive the server. Null: none, and nothing to set.
  tracing::RequestTracer* tracer = nullptr;
  /// Largest request message in bytes: gRPC's own limit.
  size_t max_message_size = 0x7fffffff;
  /// Bounds the memory of all requests that are received or being worked on, together with whoever
  /// else has it. Null: no bound.
  std::shared_ptr<base::ByteBudget> receive_budget = nullptr;
  /// Bounds the open connections, together with the other servers that have it. Null: no bound.
  std::shared_ptr<net::ConnectionLimit> connection_limit = nullptr;
  /// Bytes of a stream's responses that may wait for its client, and how long a backend that has
  /// more to send is held up before its request ends; see docs/user/streaming.md.
  size_t max_waiting_bytes = size_t{64} << 20;
  std::chrono::milliseconds slow_reader_patience{5000};
  /// Calls at one time in one connection. A client of many threads shares one connection.
  uint32_t max_concurrent_streams = 4096;
  /// All metadata of a call in bytes, counted as HTTP/2 counts (32 more for each).
  uint32_t max_metadata_size = 16384;
  KeepAliveOptions keep_alive = {};
  /// How long a client may let pass without a byte that it owes (of a message that it has begun, of
  /// a request of one message), or without reading anything of a complete answer.
  std::chrono::milliseconds stall_timeout{60'000};
};

}  // namespace nereid::frontend::grpc
