// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "request/trace.h"

namespace nereid::tracing {

/// More elements than this are not shown: the text ends with "...".
inline constexpr size_t kMostElementsShown = 65'536;

/// A traced tensor's elements, as far as its bytes hold them: "1,2,3"; BOOL as 0 and 1; BYTES as
/// quoted JSON strings. Nothing for a tensor that is not in the memory of the CPU.
std::string TensorText(const request::TracedTensor& tensor);

/// "2,3".
std::string DimensionsText(const tensor::Shape& shape);

}  // namespace nereid::tracing
