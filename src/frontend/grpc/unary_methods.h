// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "codec/proto/infer_response.h"
#include "frontend/grpc/call_status.h"
#include "frontend/grpc/server_context.h"
#include "request/cancellation.h"

namespace nereid::frontend::grpc {

/// The request of a handler.
struct UnaryRequest {
  std::string_view message;
  /// Is cancelled when the client does not wait for the reply.
  const request::Cancellation& client;
};

/// Handles one request message. Sets the reply if the status is OK.
using UnaryHandler = CallStatus (*)(ServerContext& context, const UnaryRequest& request,
                                    codec::proto::EncodedMessage* reply);

/// A method whose request and reply are small messages.
struct UnaryMethod {
  std::string_view path;
  UnaryHandler handler;
  /// The threads that run it; null: the event loops, because it never takes long.
  base::BlockingWorkers ServerContext::*workers = nullptr;
};

/// Returns the method of a path; null if there is none.
const UnaryMethod* FindUnaryMethod(std::string_view path);

}  // namespace nereid::frontend::grpc
