// SPDX-License-Identifier: Apache-2.0
#include "backend/abi/memory_usage.h"

#include "abi/handle.h"

namespace nereid::backend {

base::Result<std::vector<memory::BufferAttributes>> ReadMemoryUsage(
    TRITONSERVER_BufferAttributes* const* usage, uint32_t usage_size) {
  std::vector<memory::BufferAttributes> reported;
  for (uint32_t i = 0; i < usage_size; ++i) {
    if (usage[i] == nullptr) return base::Status::InvalidArgument("usage has a null entry");
    reported.push_back(abi::Unwrap(usage[i]));
  }
  return reported;
}

}  // namespace nereid::backend
