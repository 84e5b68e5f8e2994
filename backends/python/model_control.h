// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "nereid/backend/error.h"
#include "python/messages.h"
#include "triton/core/tritonserver.h"

namespace nereid::python {

/// Loads, unloads or asks for another model, as `function` says. Waits for the result, which may
/// take as long as the load of a model. `*value` is "1" or "0" for kIsModelReady.
///
/// Arguments: the model's name; for kLoadModel the configuration (JSON, or empty) and pairs of
/// parameter name ("file:1/model.py") and content; for kUnloadModel "1" to unload dependent models
/// too; for kIsModelReady the version as text, or "".
backend::Error ControlModel(TRITONSERVER_Server* server, ControlFunction function,
                            const std::vector<std::string>& arguments, std::string* value);

}  // namespace nereid::python
