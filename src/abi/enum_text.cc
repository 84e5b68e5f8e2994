// SPDX-License-Identifier: Apache-2.0
// The version of the C API and the names of its enumerators.
#include <string_view>

#include "abi/error.h"
#include "tensor/data_type.h"
#include "triton/core/tritonserver.h"

using namespace nereid;

namespace {

/// Converts a value from C code, where an enum may hold any int. Unknown values become kInvalid.
tensor::DataType ToDataType(TRITONSERVER_DataType type) {
  const int value = static_cast<int>(type);
  return value >= 0 && value <= TRITONSERVER_TYPE_BF16 ? static_cast<tensor::DataType>(value)
                                                       : tensor::DataType::kInvalid;
}

}  // namespace

extern "C" {

TRITONSERVER_Error* TRITONSERVER_ApiVersion(uint32_t* major, uint32_t* minor) {
  NEREID_CHECK_NOT_NULL(major);
  NEREID_CHECK_NOT_NULL(minor);
  *major = TRITONSERVER_API_VERSION_MAJOR;
  *minor = TRITONSERVER_API_VERSION_MINOR;
  return nullptr;
}

const char* TRITONSERVER_DataTypeString(TRITONSERVER_DataType datatype) {
  // The view is of a string literal, so it is NUL-terminated.
  return tensor::DataTypeName(ToDataType(datatype)).data();
}

TRITONSERVER_DataType TRITONSERVER_StringToDataType(const char* dtype) {
  if (dtype == nullptr) return TRITONSERVER_TYPE_INVALID;
  return static_cast<TRITONSERVER_DataType>(tensor::DataTypeFromName(dtype));
}

uint32_t TRITONSERVER_DataTypeByteSize(TRITONSERVER_DataType datatype) {
  return tensor::DataTypeByteSize(ToDataType(datatype));
}

const char* TRITONSERVER_MemoryTypeString(TRITONSERVER_MemoryType memtype) {
  switch (memtype) {
    case TRITONSERVER_MEMORY_CPU:
      return "CPU";
    case TRITONSERVER_MEMORY_CPU_PINNED:
      return "CPU_PINNED";
    case TRITONSERVER_MEMORY_GPU:
      return "GPU";
  }
  return "<invalid>";
}

const char* TRITONSERVER_ParameterTypeString(TRITONSERVER_ParameterType paramtype) {
  switch (paramtype) {
    case TRITONSERVER_PARAMETER_STRING:
      return "STRING";
    case TRITONSERVER_PARAMETER_INT:
      return "INT";
    case TRITONSERVER_PARAMETER_BOOL:
      return "BOOL";
    case TRITONSERVER_PARAMETER_DOUBLE:
      return "DOUBLE";
    case TRITONSERVER_PARAMETER_BYTES:
      return "BYTES";
  }
  return "<invalid>";
}

const char* TRITONSERVER_InstanceGroupKindString(TRITONSERVER_InstanceGroupKind kind) {
  switch (kind) {
    case TRITONSERVER_INSTANCEGROUPKIND_AUTO:
      return "AUTO";
    case TRITONSERVER_INSTANCEGROUPKIND_CPU:
      return "CPU";
    case TRITONSERVER_INSTANCEGROUPKIND_GPU:
      return "GPU";
    case TRITONSERVER_INSTANCEGROUPKIND_MODEL:
      return "MODEL";
  }
  return "<invalid>";
}

}  // extern "C"
