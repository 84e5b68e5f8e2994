// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace nereid::app::tools {

/// Parses the levels of a load: a number, a list "1,2,8", or a range "first:last:step" with both
/// ends, whose step is added ("1:16:2", default 1) or multiplied ("1:64:x2"). INVALID_ARGUMENT,
/// with the flag's name, for anything else, for numbers outside of [least, most] and for more than
/// 1,000 levels.
base::Result<std::vector<double>> ParseLevels(std::string_view flag, std::string_view text,
                                              double least, double most);

/// Returns the times at which the requests of a rate are due, one for each call: in equal
/// distances, or as a Poisson process with the same numbers each time.
std::function<uint64_t()> DueTimes(double per_second, bool is_poisson, uint64_t begin_ns);

}  // namespace nereid::app::tools
