// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "triton/core/tritonserver.h"

/// The definition of the opaque C type: a named value. A BYTES value belongs to the creator of the
/// parameter, who must keep it valid; values of other types are copied.
struct TRITONSERVER_Parameter {
  /// The alternatives are in the order of TRITONSERVER_ParameterType.
  using Value = std::variant<std::string, int64_t, bool, double, std::string_view>;

  std::string name;
  Value value;

  TRITONSERVER_ParameterType type() const {
    return static_cast<TRITONSERVER_ParameterType>(value.index());
  }
};

namespace nereid::abi {

/// The type of a parameter and a pointer to its value, as the C API returns them. Used as a visitor
/// of std::variant. `value` is valid as long as the visited object.
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
