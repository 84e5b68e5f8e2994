// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace nereid::config::rules {

/// Whether a path that is meant to stay below some directory is absolute or climbs out of it by its
/// text ("../x", "a/../../x"). Links are not looked at: that takes the file system.
bool LeavesItsDirectory(std::string_view path);

}  // namespace nereid::config::rules
