// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/access/refusal.h"
#include "base/status.h"

namespace nereid::api {

/// Returns the HTTP status for a status code; 200 for kOk.
int HttpStatus(base::StatusCode code);

/// Returns the gRPC status code for a status code; 0 for kOk.
int GrpcStatus(base::StatusCode code);

/// The same for a caller that is refused.
int HttpStatus(RefusalKind kind);
int GrpcStatus(RefusalKind kind);

}  // namespace nereid::api
