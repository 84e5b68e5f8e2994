// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "memory/buffer_attributes.h"
#include "triton/core/tritonserver.h"

namespace nereid::backend {

/// Returns copies of a backend's report of the memory that it uses. INVALID_ARGUMENT for an entry
/// that is null.
base::Result<std::vector<memory::BufferAttributes>> ReadMemoryUsage(
    TRITONSERVER_BufferAttributes* const* usage, uint32_t usage_size);

}  // namespace nereid::backend
