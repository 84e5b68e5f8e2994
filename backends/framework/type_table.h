// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>

#include "triton/core/tritonserver.h"

namespace nereid::framework {

/// A data type of the protocol and the same type in a framework.
template <typename Type>
struct TypeRow {
  Type type;
  TRITONSERVER_DataType data_type;
};

/// Returns the data type for a framework's type, or INVALID.
template <typename Type, size_t N>
TRITONSERVER_DataType ToDataType(const TypeRow<Type> (&table)[N], Type type) {
  const auto* const row = std::find_if(std::begin(table), std::end(table),
                                       [&](const auto& known) { return known.type == type; });
  return row == std::end(table) ? TRITONSERVER_TYPE_INVALID : row->data_type;
}

/// Returns the framework's type for a data type.
template <typename Type, size_t N>
std::optional<Type> FromDataType(const TypeRow<Type> (&table)[N], TRITONSERVER_DataType data_type) {
  const auto* const row = std::find_if(std::begin(table), std::end(table), [&](const auto& known) {
    return known.data_type == data_type;
  });
  return row == std::end(table) ? std::nullopt : std::optional<Type>(row->type);
}

}  // namespace nereid::framework
