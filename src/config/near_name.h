// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace nereid::config {

/// " Did you mean 'X'?" with the candidate that takes the fewest edits, case aside, to become
/// `wrong`; empty if none is near. For the end of an error message.
std::string DidYouMean(std::string_view wrong, std::span<const std::string_view> candidates);

}  // namespace nereid::config
