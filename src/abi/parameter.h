// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "triton/core/tritonserver.h"

/// The definition behind the opaque C type: a named value. BYTES are lent by whoever made the
/// parameter, the other types are copies.
struct TRITONSERVER_Parameter {
  /// In the order of TRITONSERVER_ParameterType.
  using Value = std::variant<std::string, int64_t, bool, double, std::string_view>;

  std::string name;
  Value value;

  TRITONSERVER_ParameterType type() const {
    return static_cast<TRITONSERVER_ParameterType>(value.index());
  }
};
