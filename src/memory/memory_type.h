// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace nereid::memory {

/// The kind of memory that holds a buffer. The values equal TRITONSERVER_MemoryType.
enum class MemoryType { kCpu = 0, kCpuPinned = 1, kGpu = 2 };

}  // namespace nereid::memory
