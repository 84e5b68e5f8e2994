// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/status.h"
#include "codec/json/infer_request.h"
#include "codec/json/text_buffer.h"
#include "request/inference_response.h"
#include "tensor/bytes.h"

namespace nereid::codec::json {

/// Appends the answer's JSON to `json`, and to `binary`, in order, views of the bytes of the
/// outputs that go behind it; they belong to the response. Empty outputs give no view.
base::Status EncodeInferResponse(const request::InferenceResponse& response,
                                 const OutputOptions& options, TextBuffer* json,
                                 std::vector<tensor::ByteSpan>* binary);

}  // namespace nereid::codec::json
