// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "frontend/grpc/call.h"

namespace nereid::frontend::grpc {

/// The call that `origin.head.path` names; null and the reason when the server has no such method.
std::shared_ptr<Call> MakeCall(const CallOrigin& origin, CallStatus* refusal);

}  // namespace nereid::frontend::grpc
