// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/status.h"
#include "triton/core/tritonserver.h"

/// The definition behind the opaque C type: a JSON document as text.
struct TRITONSERVER_Message {
  explicit TRITONSERVER_Message(std::string text) : json(std::move(text)) {}
  std::string json;
};

namespace nereid::abi {

/// INVALID_ARGUMENT unless `text` is one well-formed JSON document (comments and trailing commas
/// are not JSON) nested at most 200 deep. Needs no parser library: only the form is checked.
base::Status CheckJson(std::string_view text);

}  // namespace nereid::abi
