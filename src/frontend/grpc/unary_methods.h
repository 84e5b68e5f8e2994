// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "api/access/operation.h"
#include "codec/proto/infer_response.h"
#include "frontend/grpc/call_status.h"
#include "frontend/grpc/server_context.h"
#include "request/cancellation.h"

namespace nereid::frontend::grpc {

struct UnaryMethod;

/// The request of a handler.
struct UnaryRequest {
  const UnaryMethod& method;
  std::string_view message;
  /// Is cancelled when the client does not wait for the reply.
  const request::Cancellation& client;
  api::RoleSet roles;  // of the caller
};

/// Handles one request message. Sets the reply if the status is OK.
using UnaryHandler = CallStatus (*)(ServerContext& context, const UnaryRequest& request,
                                    codec::proto::EncodedMessage* reply);

/// A method whose request and reply are small messages.
struct UnaryMethod {
  std::string_view path;
  /// Decides who may call it, and which threads run it (ServerContext::WorkersFor).
  api::Operation operation;
  UnaryHandler handler;
  /// Decides in addition about messages that change something; nothing: no message does. It has the
  /// cost of `operation`.
  std::optional<api::Operation> change = std::nullopt;
};

std::span<const UnaryMethod> AllUnaryMethods();

/// Returns the method of a path; null if there is none.
const UnaryMethod* FindUnaryMethod(std::string_view path);

}  // namespace nereid::frontend::grpc
