// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace nereid::custom {

/// Why a file is no whole shared library of this kind of machine; empty where it looks like one.
/// dlopen maps a file that was cut short as if it were whole, and the process dies of the first
/// look at what is not there.
std::string ElfFault(const std::string& path);

}  // namespace nereid::custom
