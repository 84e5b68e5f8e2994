// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/status.h"
#include "request/inference_response.h"

namespace nereid::request {

/// A client wants the `count` best classes of an output instead of the tensor.
struct ClassificationWish {
  std::string output;
  uint64_t count = 0;  // 0: the tensor itself after all
};

/// Replaces the outputs that are wished for, wherever the response has them, by their classes; the
/// labels are those of the response's model. For sinks with the default allocation of outputs.
/// Failures have Triton's codes and texts; the response then must not be used.
base::Status Classify(std::span<const ClassificationWish> wishes, InferenceResponse* response);

}  // namespace nereid::request
