// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace nereid::base {

/// Returns whether `text` is well-formed UTF-8: no overlong forms, no surrogates, nothing above
/// U+10FFFF. JSON and protobuf strings must be well-formed.
bool IsUtf8(std::string_view text);

/// Returns how many bytes at the beginning of `text` are well-formed UTF-8.
size_t ValidUtf8Prefix(std::string_view text);

/// U+FFFD, the character that stands for a byte that is not part of a well-formed one.
inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";

/// Returns `text` with U+FFFD in place of each byte that is not part of a well-formed character.
/// Used for text from plug-ins and files before it becomes part of a message for clients.
std::string ReplaceInvalidUtf8(std::string_view text);

/// Returns how many bytes at the end of `text` begin a character of which the rest is missing: 0
/// to 3. More bytes could make it well-formed.
size_t IncompleteUtf8Suffix(std::string_view text);

/// Returns `text` if it has at most `max_size` bytes. Otherwise returns its beginning and twice as
/// much of its end, with a mark between them that says how many bytes are left out. The result is
/// UTF-8: no character is cut, and U+FFFD replaces invalid bytes, which takes three bytes for each.
std::string ShortenMiddle(std::string_view text, size_t max_size);

}  // namespace nereid::base
