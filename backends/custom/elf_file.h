// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace nereid::custom {

/// Returns why a file is not a complete shared library for this machine; empty if it seems to be
/// one. dlopen maps a truncated file as if it were complete, and the process would crash at the
/// first access to the missing part.
std::string ElfFault(const std::string& path);

}  // namespace nereid::custom
