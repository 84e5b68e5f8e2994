// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "api/access/operation.h"
#include "frontend/grpc/call.h"

namespace nereid::frontend::grpc {

/// A method of the server's services, with what decides who may call it.
struct MethodSpec {
  std::string_view path;
  api::Operation operation;
  /// Decides in addition about messages that change something; nothing: no message does.
  std::optional<api::Operation> change;
};

/// Returns the specifications of all methods.
std::vector<MethodSpec> AllMethods();

/// Returns a call of the method that `origin.head.path` names. Returns null, and sets `refusal`, if
/// the server has no such method, or if the client may not call it.
std::shared_ptr<Call> MakeCall(const CallOrigin& origin, CallStatus* refusal);

}  // namespace nereid::frontend::grpc
