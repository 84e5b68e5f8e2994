// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/status.h"
#include "triton/core/tritonserver.h"

/// The definition of the opaque C type: a JSON document as text.
struct TRITONSERVER_Message {
  explicit TRITONSERVER_Message(std::string text) : json(std::move(text)) {}
  std::string json;
};

namespace nereid::abi {

/// Checks that `text` is one well-formed JSON document (no comments, no trailing commas) with at
/// most 200 levels of nesting. INVALID_ARG otherwise. Only the form is checked, so plug-ins that
/// link this need no JSON library.
base::Status CheckJson(std::string_view text);

}  // namespace nereid::abi
