// SPDX-License-Identifier: Apache-2.0
#include "tensor/data_type.h"

#include <array>

namespace nereid::tensor {
namespace {

struct Row {
  std::string_view name;
  std::string_view config_name;
  uint32_t byte_size;
};

constexpr std::array<Row, 15> kRows = {{
    {"<invalid>", "TYPE_INVALID", 0},
    {"BOOL", "TYPE_BOOL", 1},
    {"UINT8", "TYPE_UINT8", 1},
    {"UINT16", "TYPE_UINT16", 2},
    {"UINT32", "TYPE_UINT32", 4},
    {"UINT64", "TYPE_UINT64", 8},
    {"INT8", "TYPE_INT8", 1},
    {"INT16", "TYPE_INT16", 2},
    {"INT32", "TYPE_INT32", 4},
    {"INT64", "TYPE_INT64", 8},
    {"FP16", "TYPE_FP16", 2},
    {"FP32", "TYPE_FP32", 4},
    {"FP64", "TYPE_FP64", 8},
    {"BYTES", "TYPE_STRING", 0},
    {"BF16", "TYPE_BF16", 2},
}};

const Row& RowOf(DataType type) {
  const auto index = static_cast<size_t>(type);
  return kRows[index < kRows.size() ? index : 0];
}

}  // namespace

std::string_view DataTypeName(DataType type) { return RowOf(type).name; }

DataType DataTypeFromName(std::string_view name) {
  for (size_t i = 1; i < kRows.size(); ++i) {
    if (kRows[i].name == name) return static_cast<DataType>(i);
  }
  return DataType::kInvalid;
}

std::string_view DataTypeConfigName(DataType type) { return RowOf(type).config_name; }

uint32_t DataTypeByteSize(DataType type) { return RowOf(type).byte_size; }

}  // namespace nereid::tensor
