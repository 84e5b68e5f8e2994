// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"

namespace nereid::frontend::grpc {

/// gRPC's status codes, as far as the transport itself uses them.
inline constexpr int kGrpcOk = 0;
inline constexpr int kGrpcCancelled = 1;
inline constexpr int kGrpcDeadlineExceeded = 4;
inline constexpr int kGrpcResourceExhausted = 8;
inline constexpr int kGrpcUnimplemented = 12;
inline constexpr int kGrpcInternal = 13;
inline constexpr int kGrpcUnavailable = 14;

/// How a call ends: a gRPC code, and a text for people.
struct CallStatus {
  int code = kGrpcOk;
  std::string message;

  static CallStatus From(const base::Status& status);
};

/// A status text as the grpc-message header carries it: bytes outside of printable ASCII, and '%',
/// as %XX, and U+FFFD for what is no UTF-8. Cut to a length that clients accept in a header.
std::string PercentEncode(std::string_view text);

}  // namespace nereid::frontend::grpc
