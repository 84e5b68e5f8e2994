// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/status.h"
#include "codec/json/cursor.h"
#include "codec/json/infer_request.h"
#include "request/inference_request.h"

namespace nereid::codec::json {

/// Reads the "parameters" object of an inference request at the cursor: those with a meaning to
/// the server go to their places, the others become parameters for the backend.
base::Status ReadRequestParameters(Cursor& cursor, const DecodeLimits& limits,
                                   request::InferenceRequest* request, OutputOptions* outputs);

/// Adds the value at the cursor, a text, a number or a truth value, as a parameter for the backend.
/// A number beyond INT64 is refused, or becomes a double where `wide`.
base::Status ReadCustomParameter(Cursor& cursor, std::string_view key, bool wide,
                                 const DecodeLimits& limits, request::InferenceRequest* request);

}  // namespace nereid::codec::json
