// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "base/byte_budget.h"
#include "frontend/http2/keep_alive.h"

namespace nereid::frontend::http2 {

/// The limits of one connection.
struct SessionOptions {
  /// The maximum number of requests in progress.
  uint32_t max_concurrent_streams = 4096;
  /// The maximum bytes of a head, counted as HTTP/2 does: 32 more for each field.
  uint32_t max_head_size = 16384;
  KeepAliveOptions keep_alive = {};
  /// The time after which a stream ends whose client sends nothing of what it owes, or reads
  /// nothing of a complete response.
  std::chrono::milliseconds stall_timeout{60'000};
  /// The time that a client has for a head; checked a few times in a stall timeout.
  std::chrono::milliseconds head_timeout{60'000};
  /// The time without a request after which the connection ends; 0: no limit. Checked likewise.
  std::chrono::milliseconds idle_timeout{0};
  /// Limits the memory of all requests of the server. Several incomplete requests of a connection
  /// may have half of it. Null: no limit.
  std::shared_ptr<base::ByteBudget> receive_budget = nullptr;
};

}  // namespace nereid::frontend::http2
