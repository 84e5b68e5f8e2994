// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "memory/memory_type.h"

namespace nereid::memory {

/// The location and size of a buffer, and the handle with which another process can map it (CUDA
/// IPC).
struct BufferAttributes {
  MemoryType memory_type = MemoryType::kCpu;
  int64_t memory_type_id = 0;
  size_t byte_size = 0;
  std::optional<std::array<char, 64>> cuda_ipc_handle;
};

}  // namespace nereid::memory
