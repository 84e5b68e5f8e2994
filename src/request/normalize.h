// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/status.h"
#include "request/inference_request.h"

namespace nereid::request {

/// Checks a bound request against its model's configuration and completes it: raw inputs get name,
/// type and shape, the batch size is found, reshapes are applied, requested outputs default to all.
/// On failure the message names input, expectation and finding, with the request's id in front
/// where Triton puts it; the request is not to be executed.
base::Status Normalize(InferenceRequest& request);

}  // namespace nereid::request
