// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/status.h"
#include "codec/json/cursor.h"
#include "codec/json/request_options.h"
#include "request/inference_request.h"

namespace nereid::codec::json {

/// Reads the "parameters" object of an inference request at the cursor. Parameters that the server
/// knows are stored in `request` and `outputs`, unless they are null; the others become parameters
/// for the backend.
base::Status ReadRequestParameters(Cursor& cursor, const DecodeLimits& limits,
                                   request::InferenceRequest* request, OutputOptions* outputs);

/// Adds the string, number or boolean at the cursor as a parameter for the backend.
base::Status ReadCustomParameter(Cursor& cursor, std::string_view key, const DecodeLimits& limits,
                                 request::InferenceRequest* request);

}  // namespace nereid::codec::json
