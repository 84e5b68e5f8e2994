// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "frontend/grpc/call.h"

namespace nereid::interop {

/// Makes the calls of grpc.testing.TestService, as the document of the gRPC project's
/// interoperability tests describes them. A frontend::grpc::CallMaker.
std::shared_ptr<frontend::grpc::Call> MakeTestCall(const frontend::grpc::CallOrigin& origin,
                                                   frontend::grpc::CallStatus* refusal);

}  // namespace nereid::interop
