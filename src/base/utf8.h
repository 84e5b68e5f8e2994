// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace nereid::base {

/// Whether `text` is well-formed UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF.
/// JSON and the strings of protobuf messages must be.
bool IsUtf8(std::string_view text);

/// `text` with U+FFFD in place of each byte that belongs to no well-formed character. What plug-ins
/// and files say goes through this before it stands in a message for clients.
std::string ReplaceInvalidUtf8(std::string_view text);

}  // namespace nereid::base
