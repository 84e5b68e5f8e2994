// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/status.h"
#include "codec/json/text_buffer.h"
#include "request/inference_response.h"
#include "request/parameter.h"

namespace nereid::codec::json {

/// Appends the elements of an output, separated by commas, in row-major order. Returns an error for
/// FP16 and BF16, for bytes that do not fit the shape, and for GPU memory.
base::Status AppendOutputElements(const request::Output& output, TextBuffer* json);

void AppendParameterValue(const request::Parameter::Value& value, TextBuffer* json);

}  // namespace nereid::codec::json
