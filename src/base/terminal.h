// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace nereid::base {

/// Returns how many characters a line of the terminal behind a descriptor has, or 0 if it is not a
/// terminal.
size_t TerminalColumns(int descriptor);

/// Returns the number of UTF-8 characters of a text.
size_t CharacterCount(std::string_view text);

/// Returns a text with at most `max_characters` UTF-8 characters. A longer one is cut and ends with
/// "…". 0 is no limit.
std::string CutTo(std::string_view text, size_t max_characters);

}  // namespace nereid::base
