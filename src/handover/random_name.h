// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace nereid::handover {

/// Returns a name that nobody can guess: 32 hexadecimal digits. INTERNAL if the system has no
/// random bytes.
base::Result<std::string> RandomName();

/// Returns whether the texts are equal. The time depends on their sizes only.
bool IsSameSecret(std::string_view one, std::string_view other);

}  // namespace nereid::handover
