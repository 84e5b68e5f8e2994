// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace nereid::tensor {

/// The type of a tensor's elements. The values equal TRITONSERVER_DataType and the DataType of
/// model_config.proto (where BYTES is TYPE_STRING).
enum class DataType : uint8_t {
  kInvalid = 0,
  kBool = 1,
  kUint8 = 2,
  kUint16 = 3,
  kUint32 = 4,
  kUint64 = 5,
  kInt8 = 6,
  kInt16 = 7,
  kInt32 = 8,
  kInt64 = 9,
  kFp16 = 10,
  kFp32 = 11,
  kFp64 = 12,
  kBytes = 13,
  kBf16 = 14,
};

/// Returns the name that the protocols use, such as "FP32" or "BYTES"; "<invalid>" for kInvalid and
/// for unknown values.
std::string_view DataTypeName(DataType type);

/// Returns the type with this name (case-sensitive), or kInvalid.
DataType DataTypeFromName(std::string_view name);

/// Returns the name that the model configuration uses, such as "TYPE_FP32" or "TYPE_STRING".
std::string_view DataTypeConfigName(DataType type);

/// Returns the size of one element in bytes; 0 for BYTES, whose elements have their own lengths,
/// and for kInvalid.
uint32_t DataTypeByteSize(DataType type);

}  // namespace nereid::tensor
