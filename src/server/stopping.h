// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/status.h"
#include "model/model_version.h"
#include "request/inference_request.h"

namespace nereid::server {

/// While the server stops: OK for a request that may continue a sequence of this version, else
/// UNAVAILABLE "Server is stopping, …".
base::Status CheckGoesOn(const request::InferenceRequest& request,
                         const model::ModelVersion& version);

/// UNAVAILABLE "Server is stopping, …". `names_unknown`: whether the prefix is there without an id
/// too; Triton's sequence batcher leaves it out.
base::Status StoppingStatus(const request::InferenceRequest& request, bool names_unknown = true);
/// The same where the request has not been read yet, so that its id is not known.
base::Status StoppingStatus();

}  // namespace nereid::server
