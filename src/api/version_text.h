// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace nereid::api {

/// The model version that a request names: "" is -1 (the version policy decides), else a decimal
/// number; text after leading digits is ignored as Triton does. INVALID_ARGUMENT for anything else,
/// a negative number or one that does not fit.
base::Result<int64_t> ParseVersionText(std::string_view text);

}  // namespace nereid::api
