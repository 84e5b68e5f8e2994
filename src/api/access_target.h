// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/access_record.h"
#include "request/inference_request.h"

namespace nereid::api {

/// Adds the model, the id and, if it is traced, the trace id of an inference request to its record.
/// Does nothing if `record` is null. Must be called before the submission.
void SetTarget(const request::InferenceRequest& request, AccessRecord* record);

/// Adds only the trace id, to the record of a request whose model and id were added when it came.
void SetTrace(const request::InferenceRequest& request, AccessRecord* record);

}  // namespace nereid::api
