// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace nereid::base {

/// The libraries that a 64-bit ELF shared object of this machine's byte order asks for (DT_NEEDED),
/// in order, from the bytes of its file. INVALID_ARGUMENT for anything else; every offset in the
/// file is checked.
Result<std::vector<std::string>> NeededLibraries(std::string_view file);

/// The bytes of a shared object that defines nothing, is called `soname` and needs `targets`, names
/// or paths, in that order: whoever needs or opens `soname` finds the symbols of the targets, and
/// so does each target that is loaded for its sake.
std::string ForwardingLibrary(const std::string& soname, const std::vector<std::string>& targets);

}  // namespace nereid::base
