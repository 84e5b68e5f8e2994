// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace nereid::config {

/// The candidate that takes the fewest edits, case aside, to become `wrong`; empty if none is near.
std::string_view NearestName(std::string_view wrong, std::span<const std::string_view> candidates);

/// " Did you mean 'X'?" with the nearest name; empty if none is near. For the end of an error
/// message.
std::string DidYouMean(std::string_view wrong, std::span<const std::string_view> candidates);

}  // namespace nereid::config
