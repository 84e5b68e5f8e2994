// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "base/shared_library.h"

namespace nereid::abi {

/// Opens a plug-in (backend, cache or repository agent) so that its calls of the C API reach this
/// engine, whatever library name the plug-in was linked with. Tools that build Python wheels rename
/// bundled libraries, so a plug-in from a wheel needs libtritonserver-<8 hex digits>.so. This
/// function loads an empty library of that name that depends on this engine, before the loader
/// could find the wheel's own server. A plug-in that leaves the API functions undefined and needs
/// no library for them also finds this engine's functions, and no other symbols of the process.
/// NOT_FOUND if the file cannot be opened.
base::Result<std::unique_ptr<base::SharedLibrary>> OpenPlugin(const std::string& path);

/// Returns whether `library` is the engine's file name as these tools change it.
bool IsRenamedEngine(const std::string& library);

}  // namespace nereid::abi
