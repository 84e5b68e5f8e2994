// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace nereid::config::rules {

/// Returns whether a path that must stay below some directory is absolute or leaves it by its text
/// ("../x", "a/../../x"). Links are not followed: that needs the file system.
bool LeavesItsDirectory(std::string_view path);

}  // namespace nereid::config::rules
