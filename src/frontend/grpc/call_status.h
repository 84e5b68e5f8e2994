// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/access/refusal.h"
#include "base/status.h"

namespace nereid::frontend::grpc {

/// The gRPC status codes that the transport itself uses.
inline constexpr int kGrpcOk = 0;
inline constexpr int kGrpcCancelled = 1;
inline constexpr int kGrpcDeadlineExceeded = 4;
inline constexpr int kGrpcResourceExhausted = 8;
inline constexpr int kGrpcUnimplemented = 12;
inline constexpr int kGrpcInternal = 13;
inline constexpr int kGrpcUnavailable = 14;

/// The outcome of a call: a gRPC code, and a text for people.
struct CallStatus {
  int code = kGrpcOk;
  std::string message;

  static CallStatus From(const base::Status& status);
  static CallStatus From(const api::AccessRefusal& refusal);
};

/// Returns a status text as the header grpc-message carries it. Bytes outside of printable ASCII,
/// and '%', become %XX; bytes that are not UTF-8 become U+FFFD. Of a text that is longer than
/// clients accept in a header, the middle is left out (base::ShortenMiddle): the end often has the
/// cause.
std::string PercentEncode(std::string_view text);

}  // namespace nereid::frontend::grpc
