// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/status.h"
#include "model/model_version.h"
#include "request/inference_request.h"

namespace nereid::server {

/// Returns, for a stopping server, OK for a request that may continue a sequence of this version,
/// else UNAVAILABLE "Server is stopping, …".
base::Status CheckGoesOn(const request::InferenceRequest& request,
                         const model::ModelVersion& version);

/// Returns UNAVAILABLE "Server is stopping, …". `names_unknown` says whether a request without an
/// id gets the prefix too; Triton's sequence batcher omits it.
base::Status StoppingStatus(const request::InferenceRequest& request, bool names_unknown = true);
/// Returns the same status for a request that was not read yet, whose id is unknown.
base::Status StoppingStatus();

}  // namespace nereid::server
