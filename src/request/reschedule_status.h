// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/status.h"

namespace nereid::request {

/// Returns the error for a backend that releases a request to have it executed again, although the
/// model is not configured for that (sequence_batching.iterative_sequence). Triton's text.
inline base::Status RescheduleUnsupported() {
  return base::Status::InvalidArgument(
      "Request is released with TRITONSERVER_REQUEST_RELEASE_RESCHEDULE, while the model is not "
      "configured to handle such a flag.");
}

}  // namespace nereid::request
