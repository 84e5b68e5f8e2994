// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <variant>

namespace nereid::request {

/// A named value of a request or a response that has a meaning for the backend or the client only.
struct Parameter {
  using Value = std::variant<std::string, int64_t, bool, double>;
  std::string name;
  Value value;
};

}  // namespace nereid::request
