// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

#include "nereid/backend/error.h"
#include "nereid/backend/parameters.h"
#include "triton/core/tritonbackend.h"

namespace nereid::identity {

using backend::Error;

/// Activities that a model adds to the traces of its requests, as an example for authors of
/// backends.
struct CustomTrace {
  bool enabled = false;
  /// The number of nested activities CUSTOM_ACTIVITY0_START, …
  int64_t nested = 0;
  /// One of this many nested activities is followed by a CUSTOM_SINGLE_ACTIVITY.
  int64_t single_every = 1;
  /// The duration of each activity.
  std::chrono::milliseconds length{100};

  Error Read(const backend::Parameters& parameters);

  /// Reports the activities of one request in sequence. Does nothing for a request without a trace.
  Error Report(TRITONBACKEND_Request* request) const;
};

}  // namespace nereid::identity
