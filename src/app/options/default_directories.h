// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace nereid::app {

/// Where plug-ins are looked for when no flag says so. `kind` is "backends", "caches" or
/// "repoagents". The first of these that is a directory:
///   /opt/tritonserver/<kind>              where Triton's images and their users put them
///   <directory of executable>/../<kind>   a build folder, or a copy of one
///   <prefix>/lib/nereid/<kind>            an installed program, <prefix>/bin/nereid
/// and the first, by name, when there is none. `executable` is the program's real path ("" if
/// unknown); `is_directory` replaces the look at the file system in tests.
std::string DefaultPluginDirectory(std::string_view kind, const std::string& executable,
                                   const std::function<bool(const std::string&)>& is_directory);
std::string DefaultPluginDirectory(std::string_view kind, const std::string& executable);

/// The path of the running program, links resolved; "" if the system does not tell.
std::string ExecutablePath();

}  // namespace nereid::app
