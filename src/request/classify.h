// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/status.h"
#include "request/inference_response.h"

namespace nereid::request {

/// The classes that a client requests instead of an output: the `count` with the largest values.
struct RequestedClasses {
  std::string output;
  uint64_t count = 0;  // 0: the tensor itself
};

/// Replaces each output named in `requested` by its classes, with the labels of the response's
/// model. For sinks that use the default allocation of outputs. Failures have Triton's codes and
/// texts; after a failure the response must not be used.
base::Status Classify(std::span<const RequestedClasses> requested, InferenceResponse* response);

}  // namespace nereid::request
