// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/status.h"
#include "request/inference_request.h"

namespace nereid::request {

/// Checks a bound request against its model's configuration and completes it: sets name, type and
/// shape of a raw input, the batch size, the model shapes (reshape), and all outputs if none was
/// requested. Returns INVALID_ARGUMENT with Triton's texts, naming the input and the expected and
/// found values, with the request's id in front where Triton puts it. After a failure the request
/// must not be executed.
base::Status Normalize(InferenceRequest& request);

}  // namespace nereid::request
