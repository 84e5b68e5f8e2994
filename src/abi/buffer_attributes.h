// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "memory/buffer_attributes.h"
#include "triton/core/tritonserver.h"

namespace nereid::abi {

// The opaque TRITONSERVER_BufferAttributes is a memory::BufferAttributes.

inline TRITONSERVER_BufferAttributes* Wrap(memory::BufferAttributes* attributes) {
  return reinterpret_cast<TRITONSERVER_BufferAttributes*>(attributes);
}

inline memory::BufferAttributes* Unwrap(TRITONSERVER_BufferAttributes* attributes) {
  return reinterpret_cast<memory::BufferAttributes*>(attributes);
}

/// Returns whether `type`, which comes from C code, is one of the enumerators.
inline bool IsMemoryType(TRITONSERVER_MemoryType type) {
  return type >= TRITONSERVER_MEMORY_CPU && type <= TRITONSERVER_MEMORY_GPU;
}

inline memory::MemoryType ToMemoryType(TRITONSERVER_MemoryType type) {
  return static_cast<memory::MemoryType>(type);
}

inline TRITONSERVER_MemoryType ToMemoryType(memory::MemoryType type) {
  return static_cast<TRITONSERVER_MemoryType>(type);
}

}  // namespace nereid::abi
