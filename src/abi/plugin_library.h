// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "base/shared_library.h"

namespace nereid::abi {

/// Opens a plug-in (backend, cache, repository agent) so that it calls this engine whatever name it
/// knows it by. The tools that make Python wheels rename the libraries that they bundle, and a
/// plug-in out of a wheel needs libtritonserver-<8 hex digits>.so: that name is given to this
/// engine first, also where the wheel's own server lies beside. A plug-in that leaves the functions
/// of the C API undefined and names no library for them finds this engine's all the same, and
/// nothing else of it. NOT_FOUND if the file cannot be opened.
base::Result<std::unique_ptr<base::SharedLibrary>> OpenPlugin(const std::string& path);

/// Whether `library` is the engine's file name as such tools change it.
bool IsRenamedEngine(const std::string& library);

}  // namespace nereid::abi
