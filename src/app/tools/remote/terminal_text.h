// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nereid::app::tools {

/// Returns a text from a server in a form that a terminal only shows: control characters, line
/// ends, characters that change the direction of writing, and bytes that are not UTF-8 become
/// escapes such as "\x1b" and "\u202e". What is beyond `max_characters` is cut off and marked.
std::string TerminalText(std::string_view text, size_t max_characters = 1000);

/// Returns a number of bytes for people: "512 B", "1.5 KiB", "12.0 GiB".
std::string ByteText(uint64_t bytes);

/// Draws rows as columns of equal width with two spaces in between; the last column is not padded.
/// A text of `rows` is a TerminalText already. The first row is the head. Lines that are longer
/// than `max_columns` characters are cut; 0 is no limit.
std::string Columns(const std::vector<std::vector<std::string>>& rows, size_t max_columns = 0);

}  // namespace nereid::app::tools
