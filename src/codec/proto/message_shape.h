// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace nereid::codec::proto {

/// The composition of an encoded ModelInferRequest, determined without decoding it.
struct MessageShape {
  bool known = false;            // false: too many fields to examine, or malformed
  size_t raw_bytes = 0;          // in raw_input_contents
  size_t structure_bytes = 0;    // in all other fields
  bool has_bytes_input = false;  // an input contains the text "BYTES", perhaps as its datatype
};

/// Examines a limited number of fields, so that the cost is bounded for every message.
MessageShape ShapeOf(std::string_view message);

}  // namespace nereid::codec::proto
