// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/status.h"

namespace nereid::request {

/// Returns the status of a request that comes after its model or the server has stopped accepting:
/// UNAVAILABLE with Triton's text. Where Triton names the request in front, the caller adds
/// InferenceRequest::LogPrefix().
base::Status StoppingStatus();

}  // namespace nereid::request
