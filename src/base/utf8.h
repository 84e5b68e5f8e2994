// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace nereid::base {

/// Returns whether `text` is well-formed UTF-8: no overlong forms, no surrogates, nothing above
/// U+10FFFF. JSON and protobuf strings must be well-formed.
bool IsUtf8(std::string_view text);

/// Returns `text` with U+FFFD in place of each byte that is not part of a well-formed character.
/// Used for text from plug-ins and files before it becomes part of a message for clients.
std::string ReplaceInvalidUtf8(std::string_view text);

}  // namespace nereid::base
