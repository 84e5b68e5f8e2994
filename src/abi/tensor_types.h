// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "memory/memory_type.h"
#include "tensor/data_type.h"
#include "triton/core/tritonserver.h"

namespace nereid::abi {

// Conversions between the C enums of tensors and ours, which have the same values. A value that
// comes from a C program may be any number.

/// Returns kInvalid for a value that is not an enumerator.
inline tensor::DataType ToDataType(TRITONSERVER_DataType type) {
  const int value = static_cast<int>(type);
  return value >= 0 && value <= TRITONSERVER_TYPE_BF16 ? static_cast<tensor::DataType>(value)
                                                       : tensor::DataType::kInvalid;
}

inline TRITONSERVER_DataType ToDataType(tensor::DataType type) {
  return static_cast<TRITONSERVER_DataType>(type);
}

/// Returns whether `type` is one of the enumerators.
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
