// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "base/byte_budget.h"
#include "codec/proto/infer_response.h"
#include "frontend/grpc/call_status.h"

namespace nereid::frontend::grpc {

/// A result on its way to the call that waits for it.
struct Delivery {
  std::optional<codec::proto::EncodedMessage> message;
  base::ByteShare waiting;           // streams: the message's size
  std::optional<CallStatus> status;  // how something ended; the call knows what
  uint64_t request = 0;              // streams: which of the call's requests
  int refusal = kGrpcOk;             // streams: the code of the error that the message carries
  bool final = false;                // streams: that request has no more responses
  std::function<void()> back;        // instead of all that: the call returns from a detour
};

}  // namespace nereid::frontend::grpc
