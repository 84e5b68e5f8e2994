// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "frontend/grpc/call.h"

namespace nereid::frontend::grpc {

/// Returns a call of the method that `origin.head.path` names. Returns null, and sets `refusal`, if
/// the server has no such method.
std::shared_ptr<Call> MakeCall(const CallOrigin& origin, CallStatus* refusal);

}  // namespace nereid::frontend::grpc
