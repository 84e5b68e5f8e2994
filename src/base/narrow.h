// SPDX-License-Identifier: Apache-2.0
// Checked conversions of numbers of a message into narrower types.
#pragma once

#include <cmath>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/status.h"

namespace nereid::base {

/// Returns `value` as a `To`, or nothing if its range does not contain the value. A finite number
/// that would become infinite is out of range; a number that loses only digits is not.
template <typename To, typename From>
constexpr std::optional<To> Narrow(From value) {
  if constexpr (std::is_floating_point_v<From>) {
    static_assert(std::is_floating_point_v<To>);
    const To narrow = static_cast<To>(value);
    if (std::isinf(narrow) && !std::isinf(value)) return std::nullopt;
    return narrow;
  } else {
    if (!std::in_range<To>(value)) return std::nullopt;
    return static_cast<To>(value);
  }
}

/// Returns INVALID_ARGUMENT "<subject> has the value <value>, which <type> cannot hold", for a
/// value that Narrow() refuses. Only the beginning of a long `value` is shown.
Status OutOfRange(std::string_view subject, std::string_view value, std::string_view type);

}  // namespace nereid::base
