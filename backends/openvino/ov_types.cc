// SPDX-License-Identifier: Apache-2.0
#include "openvino/ov_types.h"

#include "framework/type_table.h"

namespace nereid::openvino {
namespace {

using ov::element::Type_t;

constexpr framework::TypeRow<Type_t> kTypes[] = {
    {Type_t::boolean, TRITONSERVER_TYPE_BOOL}, {Type_t::u8, TRITONSERVER_TYPE_UINT8},
    {Type_t::u16, TRITONSERVER_TYPE_UINT16},   {Type_t::u32, TRITONSERVER_TYPE_UINT32},
    {Type_t::u64, TRITONSERVER_TYPE_UINT64},   {Type_t::i8, TRITONSERVER_TYPE_INT8},
    {Type_t::i16, TRITONSERVER_TYPE_INT16},    {Type_t::i32, TRITONSERVER_TYPE_INT32},
    {Type_t::i64, TRITONSERVER_TYPE_INT64},    {Type_t::f16, TRITONSERVER_TYPE_FP16},
    {Type_t::f32, TRITONSERVER_TYPE_FP32},     {Type_t::f64, TRITONSERVER_TYPE_FP64},
    {Type_t::string, TRITONSERVER_TYPE_BYTES}, {Type_t::bf16, TRITONSERVER_TYPE_BF16}};

}  // namespace

TRITONSERVER_DataType DataTypeOf(const ov::element::Type& type) {
  return framework::ToDataType(kTypes, static_cast<Type_t>(type));
}

ov::element::Type ElementTypeOf(TRITONSERVER_DataType type) {
  return framework::FromDataType(kTypes, type).value_or(ov::element::dynamic);
}

}  // namespace nereid::openvino
