// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/status.h"
#include "codec/json/split_characters.h"
#include "codec/json/text_buffer.h"
#include "request/inference_response.h"
#include "request/parameter.h"

namespace nereid::codec::json {

/// Appends the elements of an output, separated by commas, in row-major order. Returns an error for
/// FP16 and BF16, for bytes that do not fit the shape, and for GPU memory. In a stream of responses
/// `split` has the characters that its responses divide; else it is null.
base::Status AppendOutputElements(const request::Output& output, TextBuffer* json,
                                  SplitCharacters* split = nullptr);

void AppendParameterValue(const request::Parameter::Value& value, TextBuffer* json);

}  // namespace nereid::codec::json
