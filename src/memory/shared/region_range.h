// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "base/status.h"

namespace nereid::memory {

/// Checks that bytes [offset, offset + byte_size) are within a region of `region_size` bytes, which
/// is not 0. Returns INVALID_ARGUMENT with Triton's texts.
base::Status CheckRegionRange(std::string_view region, uint64_t region_size, uint64_t offset,
                              uint64_t byte_size);

}  // namespace nereid::memory
