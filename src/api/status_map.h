// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/status.h"

namespace nereid::api {

/// The HTTP status of a failure (200 for success).
int HttpStatus(base::StatusCode code);

/// The gRPC status code of a failure (0 for success).
int GrpcStatus(base::StatusCode code);

}  // namespace nereid::api
