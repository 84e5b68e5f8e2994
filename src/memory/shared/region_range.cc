// SPDX-License-Identifier: Apache-2.0
#include "memory/shared/region_range.h"

#include <string>

#include "base/checked_math.h"

namespace nereid::memory {

base::Status CheckRegionRange(std::string_view region, uint64_t region_size, uint64_t offset,
                              uint64_t byte_size) {
  const std::string quoted = "'" + std::string(region) + "'";
  if (offset >= region_size) {
    return base::Status::InvalidArgument("Invalid offset for shared memory region: " + quoted);
  }
  const auto end = base::CheckedAdd(offset, byte_size);
  if (!end) {
    return base::Status::InvalidArgument("Integer overflow detected: byte_size (" +
                                         std::to_string(byte_size) + ") + offset (" +
                                         std::to_string(offset) + ") exceeds maximum value (" +
                                         std::to_string(UINT64_MAX) + ") for region " + quoted);
  }
  if (*end > region_size) {
    return base::Status::InvalidArgument("Invalid offset + byte size for shared memory region: " +
                                         quoted);
  }
  return base::Status::Ok();
}

}  // namespace nereid::memory
