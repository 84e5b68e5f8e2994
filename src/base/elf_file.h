// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace nereid::base {

/// Returns the libraries that a shared object needs (its DT_NEEDED entries), in order. `file` holds
/// the bytes of a 64-bit ELF file in this machine's byte order. INVALID_ARG for anything else.
/// Every offset in the file is checked, so the file may be hostile.
Result<std::vector<std::string>> NeededLibraries(std::string_view file);

/// Returns the bytes of a shared object that is named `soname`, defines no symbol and needs
/// `targets` (names or paths) in that order. A program or library that opens `soname` finds the
/// symbols of the targets, and so does each target that is loaded with it.
std::string ForwardingLibrary(const std::string& soname, const std::vector<std::string>& targets);

}  // namespace nereid::base
