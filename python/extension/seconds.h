// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace nereid::python {

/// Returns the milliseconds of a number of seconds that comes from a program: 0 for NaN and for
/// negative numbers, and those of `max_seconds` for all larger ones.
inline uint64_t ToMilliseconds(double seconds, double max_seconds) {
  return seconds > 0 ? static_cast<uint64_t>(std::min(seconds, max_seconds) * 1000) : 0;
}

}  // namespace nereid::python
