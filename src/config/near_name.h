// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace nereid::config {

/// Returns the candidate with the smallest edit distance to `wrong`, ignoring case; empty if none
/// is near.
std::string_view NearestName(std::string_view wrong, std::span<const std::string_view> candidates);

/// Returns " Did you mean 'X'?" with the nearest name, to be appended to an error message; empty if
/// none is near.
std::string DidYouMean(std::string_view wrong, std::span<const std::string_view> candidates);

}  // namespace nereid::config
