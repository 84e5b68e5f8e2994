// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace nereid::framework {

/// Returns the number of CPUs that this process may use, at least 1.
int64_t UsableProcessors();

}  // namespace nereid::framework
