// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace nereid::tracing {

/// A receiver's answer to one message.
struct TransportReply {
  int status = 0;                 // of HTTP; 0: there was no answer
  std::string failure;            // why there was none
  std::string body;               // its first bytes
  uint64_t retry_after_secs = 0;  // Retry-After; 0: not given
};

/// The way to the receiver of spans.
class SpanTransport {
 public:
  virtual ~SpanTransport() = default;
  /// Sends a message in protobuf's wire format, compressed with gzip, and waits for the answer or
  /// the transport's own time-out. Called by one thread.
  virtual TransportReply Send(std::string_view packed) = 0;
  /// Makes a Send() that waits, and all later ones, return without an answer. Any thread.
  virtual void Abort() noexcept = 0;
};

}  // namespace nereid::tracing
