// SPDX-License-Identifier: Apache-2.0
// The messages of gRPC over HTTP/2: one byte that says whether the message is compressed, four of
// its length, big-endian, and the message.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "curl/http_message.h"

namespace nereid::app::tools {

/// Returns a message with its head. It must be shorter than 4 GiB.
std::string FramedMessage(std::string_view message);

/// Splits what arrives into messages.
class MessageFrames {
 public:
  /// Takes the next bytes and calls `visit` for each complete message. Returns the error of
  /// `visit`; INTERNAL for a compressed message, which was not asked for, or one of more than 1
  /// GiB.
  base::Status Take(std::string_view bytes,
                    const std::function<base::Status(std::string_view message)>& visit);

 private:
  std::string pending_;
};

/// Returns the outcome of a call: grpc-status and grpc-message of the trailers or, without a body,
/// of the head. UNAVAILABLE with the server's text if the call has failed or was not answered by a
/// gRPC server.
base::Status CallOutcome(const curl::HttpResponse& response);

}  // namespace nereid::app::tools
