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

/// Does the same for the BYTES inputs of one request, and for the input of a raw request, which may
/// be BYTES. To be called before Normalize, which checks the lengths of the elements only in host
/// memory.
base::Status MoveStringsToHost(InferenceRequest& request);

}  // namespace nereid::request
