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

namespace nereid::abi {

/// The type of a parameter and the place of its value, as the C API hands them out: a visitor of
/// the variants that hold such values.
struct ParameterView {
  TRITONSERVER_ParameterType type = TRITONSERVER_PARAMETER_STRING;
  const void* value = nullptr;

  ParameterView operator()(const std::string& text) const {
    return {TRITONSERVER_PARAMETER_STRING, text.c_str()};
  }
  ParameterView operator()(const int64_t& number) const {
    return {TRITONSERVER_PARAMETER_INT, &number};
  }
  ParameterView operator()(const bool& flag) const { return {TRITONSERVER_PARAMETER_BOOL, &flag}; }
  ParameterView operator()(const double& number) const {
    return {TRITONSERVER_PARAMETER_DOUBLE, &number};
  }
};

}  // namespace nereid::abi
