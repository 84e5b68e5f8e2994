// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace nereid::base {

enum class LetterCase { kMatters, kIgnored };

/// Returns the number of insertions, deletions, replacements and swaps of neighboring characters
/// that turn `a` into `b` (optimal string alignment distance). The time is proportional to the
/// product of the lengths: callers limit them.
size_t EditDistance(std::string_view a, std::string_view b, LetterCase letter_case);

/// Returns the candidate with the smallest edit distance to `wrong`, ignoring case; empty if none
/// is near: that takes one edit for every four characters, and in a short name no other letter
/// ("cpus" is no misspelled "gpus").
std::string_view NearestName(std::string_view wrong, std::span<const std::string_view> candidates);

/// Returns " Did you mean 'X'?" with the nearest name, to be appended to an error message; empty if
/// none is near.
std::string DidYouMean(std::string_view wrong, std::span<const std::string_view> candidates);

}  // namespace nereid::base
