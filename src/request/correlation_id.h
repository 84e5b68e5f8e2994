// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

#include "base/status.h"

namespace nereid::request {

/// The longest text that identifies a sequence, in bytes.
inline constexpr size_t kMaxCorrelationIdSize = 128;

/// Returns UNSUPPORTED for a text that is too long to identify a sequence. Whoever sets the
/// correlation id of a request to a text asks first, also for models without sequences.
base::Status CheckCorrelationId(std::string_view text);

}  // namespace nereid::request
