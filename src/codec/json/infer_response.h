// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/status.h"
#include "codec/json/request_options.h"
#include "codec/json/text_buffer.h"
#include "request/inference_response.h"
#include "tensor/bytes.h"

namespace nereid::codec::json {

/// Appends the JSON of the response to `json`, and to `binary` views of the bytes of the binary
/// outputs, in the order in which they follow the JSON. The bytes belong to the response. Empty
/// outputs give no view. Returns the errors of AppendOutputElements, and UNAVAILABLE when memory is
/// short.
base::Status EncodeInferResponse(const request::InferenceResponse& response,
                                 const OutputOptions& options, TextBuffer* json,
                                 std::vector<tensor::ByteSpan>* binary);

}  // namespace nereid::codec::json
