// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "request/trace.h"

namespace nereid::tracing {

/// The maximum number of elements shown; the text then ends with "...".
inline constexpr size_t kMaxElementsShown = 65'536;

/// Returns a traced tensor's complete elements: "1,2,3"; BOOL as 0 and 1; BYTES as quoted JSON
/// strings. Returns "" for a tensor that is in GPU memory.
std::string TensorText(const request::TracedTensor& tensor);

/// Returns the dimensions as "2,3".
std::string DimensionsText(const tensor::Shape& shape);

}  // namespace nereid::tracing
