// SPDX-License-Identifier: Apache-2.0
#include "abi/parameter.h"

#include <exception>
#include <utility>

namespace {

/// Creates a parameter; NULL for an unknown type. Throws std::bad_alloc, which the callers turn
/// into NULL: the C functions have no other way to report an error.
TRITONSERVER_Parameter* NewParameter(const char* name, TRITONSERVER_ParameterType type,
                                     const void* value) {
  TRITONSERVER_Parameter::Value copy;
  switch (type) {
    case TRITONSERVER_PARAMETER_STRING:
      copy = std::string(static_cast<const char*>(value));
      break;
    case TRITONSERVER_PARAMETER_INT:
      copy = *static_cast<const int64_t*>(value);
      break;
    case TRITONSERVER_PARAMETER_BOOL:
      copy = *static_cast<const bool*>(value);
      break;
    case TRITONSERVER_PARAMETER_DOUBLE:
      copy = *static_cast<const double*>(value);
      break;
    default:
      return nullptr;
  }
  return new TRITONSERVER_Parameter{name, std::move(copy)};
}

}  // namespace

extern "C" {

TRITONSERVER_Parameter* TRITONSERVER_ParameterNew(const char* name, TRITONSERVER_ParameterType type,
                                                  const void* value) {
  if (name == nullptr || value == nullptr) return nullptr;
  try {
    return NewParameter(name, type, value);
  } catch (const std::exception&) {
    return nullptr;
  }
}

TRITONSERVER_Parameter* TRITONSERVER_ParameterBytesNew(const char* name, const void* byte_ptr,
                                                       uint64_t size) {
  if (name == nullptr || (byte_ptr == nullptr && size > 0)) return nullptr;
  try {
    return new TRITONSERVER_Parameter{name,
                                      std::string_view(static_cast<const char*>(byte_ptr), size)};
  } catch (const std::exception&) {
    return nullptr;
  }
}

void TRITONSERVER_ParameterDelete(TRITONSERVER_Parameter* parameter) { delete parameter; }

}  // extern "C"
