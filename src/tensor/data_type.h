// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace nereid::tensor {

/// Element types. The values equal TRITONSERVER_DataType and, BYTES being TYPE_STRING there, the
/// DataType of model_config.proto.
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

/// "FP32", "BYTES", …: the names of the protocols; "<invalid>" for kInvalid and unknown values.
std::string_view DataTypeName(DataType type);

/// The reverse; case-sensitive; kInvalid for anything else.
DataType DataTypeFromName(std::string_view name);

/// "TYPE_FP32", "TYPE_STRING", …: the names of the model configuration.
std::string_view DataTypeConfigName(DataType type);

/// Bytes of one element; 0 for BYTES (each element has its own length) and kInvalid.
uint32_t DataTypeByteSize(DataType type);

}  // namespace nereid::tensor
