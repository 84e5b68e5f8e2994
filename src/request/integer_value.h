// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/narrow.h"
#include "request/parameter.h"

namespace nereid::request {

/// Returns `number` as the value of a parameter: an int64, or beyond its range a double. Plug-ins
/// know no wider integers.
inline Parameter::Value IntegerValue(uint64_t number) {
  const auto integer = base::Narrow<int64_t>(number);
  if (integer) return *integer;
  return static_cast<double>(number);
}

}  // namespace nereid::request
