// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "triton/core/tritonserver.h"

namespace nereid::python {

/// The structure in the capsule of __array_struct__
/// (https://numpy.org/doc/stable/reference/arrays.interface.html). It is how the extension gets the
/// address of an array: Python's limited API has the buffer protocol since 3.11 only.
struct ArrayStruct {
  static constexpr int kContiguous = 0x1;
  static constexpr int kAligned = 0x100;
  static constexpr int kNativeOrder = 0x200;
  static constexpr int kWriteable = 0x400;

  int two;  // 2
  int nd;
  char typekind;
  int itemsize;
  int flags;
  intptr_t* shape;
  intptr_t* strides;  // in bytes
  void* data;
  void* description;

  /// Returns whether the bytes are those of a tensor.
  bool IsPlain() const {
    constexpr int kPlain = kContiguous | kAligned | kNativeOrder;
    return (flags & kPlain) == kPlain;
  }
};

/// Returns the type of the array's elements; TRITONSERVER_TYPE_INVALID for types that need a
/// conversion (text, objects) or have no tensor.
inline TRITONSERVER_DataType DataTypeOf(const ArrayStruct& array) {
  const int size = array.itemsize;
  switch (array.typekind) {
    case 'b':
      return size == 1 ? TRITONSERVER_TYPE_BOOL : TRITONSERVER_TYPE_INVALID;
    case 'u':
      return size == 1   ? TRITONSERVER_TYPE_UINT8
             : size == 2 ? TRITONSERVER_TYPE_UINT16
             : size == 4 ? TRITONSERVER_TYPE_UINT32
             : size == 8 ? TRITONSERVER_TYPE_UINT64
                         : TRITONSERVER_TYPE_INVALID;
    case 'i':
      return size == 1   ? TRITONSERVER_TYPE_INT8
             : size == 2 ? TRITONSERVER_TYPE_INT16
             : size == 4 ? TRITONSERVER_TYPE_INT32
             : size == 8 ? TRITONSERVER_TYPE_INT64
                         : TRITONSERVER_TYPE_INVALID;
    case 'f':
      return size == 2   ? TRITONSERVER_TYPE_FP16
             : size == 4 ? TRITONSERVER_TYPE_FP32
             : size == 8 ? TRITONSERVER_TYPE_FP64
                         : TRITONSERVER_TYPE_INVALID;
    default:
      return TRITONSERVER_TYPE_INVALID;
  }
}

}  // namespace nereid::python
