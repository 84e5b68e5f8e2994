// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "codec/proto/infer_response.h"
#include "frontend/grpc/call_status.h"
#include "frontend/grpc/server_context.h"

namespace nereid::frontend::grpc {

/// Answers one request message with one reply. The reply is set if the status is OK.
using UnaryHandler = CallStatus (*)(ServerContext& context, std::string_view request,
                                    codec::proto::EncodedMessage* reply);

/// A method whose request and reply are small messages.
struct UnaryMethod {
  std::string_view path;
  UnaryHandler handler;
  bool blocks = false;   // waits, maybe for minutes
  bool is_long = false;  // takes longer than an event loop has: its answer grows with the models
};

/// The method of that path; null if there is none.
const UnaryMethod* FindUnaryMethod(std::string_view path);

}  // namespace nereid::frontend::grpc
