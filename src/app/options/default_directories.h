// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace nereid::app {

/// Returns the directory of the plug-ins of a server without the corresponding flag. `kind` is
/// "backends", "caches" or "repoagents". The result is the first of these paths that is a
/// directory:
///   /opt/tritonserver/<kind>              the directory in Triton's images
///   <directory of executable>/../<kind>   a build folder, or a copy of one
///   <prefix>/lib/nereid/<kind>            an installed program, <prefix>/bin/nereid
/// and the first path if none of them is. `executable` is the program's real path ("" if it is
/// unknown). `is_directory` replaces the file system in tests.
std::string DefaultPluginDirectory(std::string_view kind, const std::string& executable,
                                   const std::function<bool(const std::string&)>& is_directory);
std::string DefaultPluginDirectory(std::string_view kind, const std::string& executable);

/// Returns the path of the running program with links resolved, or "" if it cannot be determined.
std::string ExecutablePath();

}  // namespace nereid::app
