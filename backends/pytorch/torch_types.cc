// SPDX-License-Identifier: Apache-2.0
#include "pytorch/torch_types.h"

#include "framework/type_table.h"

namespace nereid::pytorch {
namespace {

constexpr framework::TypeRow<c10::ScalarType> kTypes[] = {
    {c10::ScalarType::Bool, TRITONSERVER_TYPE_BOOL},
    {c10::ScalarType::Byte, TRITONSERVER_TYPE_UINT8},
    {c10::ScalarType::Char, TRITONSERVER_TYPE_INT8},
    {c10::ScalarType::Short, TRITONSERVER_TYPE_INT16},
    {c10::ScalarType::Int, TRITONSERVER_TYPE_INT32},
    {c10::ScalarType::Long, TRITONSERVER_TYPE_INT64},
    {c10::ScalarType::Half, TRITONSERVER_TYPE_FP16},
    {c10::ScalarType::Float, TRITONSERVER_TYPE_FP32},
    {c10::ScalarType::Double, TRITONSERVER_TYPE_FP64},
    {c10::ScalarType::BFloat16, TRITONSERVER_TYPE_BF16}};

}  // namespace

std::optional<c10::ScalarType> ScalarTypeOf(TRITONSERVER_DataType type) {
  return framework::FromDataType(kTypes, type);
}

TRITONSERVER_DataType DataTypeOf(c10::ScalarType type) {
  return framework::ToDataType(kTypes, type);
}

}  // namespace nereid::pytorch
