// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/byte_budget.h"

namespace nereid::frontend::http {

struct HttpServerOptions {
  std::string address = "0.0.0.0";
  uint16_t port = 8000;  // 0: the kernel chooses
  /// Event loops, each with its own thread; 0 for one per CPU.
  int threads = 0;
  /// Whether other processes may serve the same port.
  bool reuse_port = false;
  /// Bodies (as received, before decompression) beyond this are refused. Memory for a body is taken
  /// as it arrives.
  uint64_t max_body_size = uint64_t{2} << 30;
  uint32_t max_head_size = 16 << 10;
  /// Keep all header fields in RequestHead::fields.
  bool keep_fields = false;

  // How long a client may take; 0 for ever. Seen with a precision of about a second.
  std::chrono::milliseconds head_timeout{60'000};     // first byte to last byte of a head
  std::chrono::milliseconds stall_timeout{60'000};    // 16 KiB of a body, or any of an answer
  std::chrono::milliseconds idle_timeout{3'600'000};  // between requests

  /// How long a request of a client that has finished sending (FIN) may take before the client is
  /// sent "100 Continue", to find out whether it is still there.
  std::chrono::milliseconds half_closed_patience{3000};

  /// Bytes of a streamed answer that may wait for its client, and how long a backend that has more
  /// to send is held up before its request ends; see docs/user/streaming.md.
  size_t max_waiting_bytes = size_t{64} << 20;
  std::chrono::milliseconds slow_reader_patience{5000};

  /// Bounds the memory of all requests that are received or being worked on, together with whoever
  /// else has it. Null: no bound.
  std::shared_ptr<base::ByteBudget> receive_budget = nullptr;

  std::string thread_name = "http";
};

}  // namespace nereid::frontend::http
