// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>

#include "base/status.h"
#include "request/inference_request.h"

namespace nereid::request {

/// Copies the inputs that are in GPU memory to host memory, for an instance on the CPU, whose
/// backend may not know GPUs. The requests get their own pieces back when they are released. Waits
/// once, for all copies. Returns UNAVAILABLE if there is no memory, and the driver's error if it
/// cannot copy; the requests must then be refused.
base::Status MoveInputsToHost(std::span<const std::unique_ptr<InferenceRequest>> requests);

}  // namespace nereid::request
