// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace nereid::codec::proto {

/// What an encoded ModelInferRequest mostly consists of, found without decoding it.
struct MessageShape {
  bool known = false;            // false: too many fields to look at, or malformed
  size_t raw_bytes = 0;          // in raw_input_contents
  size_t structure_bytes = 0;    // in everything else
  bool has_bytes_input = false;  // perhaps: an input says "BYTES" somewhere
};

/// Looks at the first few fields only, so that it costs the same for every message.
MessageShape ShapeOf(std::string_view message);

}  // namespace nereid::codec::proto
