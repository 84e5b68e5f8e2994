// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

#include "nereid/backend/error.h"
#include "nereid/backend/parameters.h"
#include "triton/core/tritonbackend.h"

namespace nereid::identity {

using backend::Error;

/// What a model adds to the traces of its requests, to show what a backend can.
struct CustomTrace {
  bool enabled = false;
  /// Activities that begin one inside the other: CUSTOM_ACTIVITY0_START, …
  int64_t nested = 0;
  /// Every so many of them there is a CUSTOM_SINGLE_ACTIVITY.
  int64_t single_every = 1;
  /// How long each activity takes.
  std::chrono::milliseconds length{100};

  Error Read(const backend::Parameters& parameters);

  /// Reports the activities of one request, one after the other. Nothing for a request without a
  /// trace.
  Error Report(TRITONBACKEND_Request* request) const;
};

}  // namespace nereid::identity
