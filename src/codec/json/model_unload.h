// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/result.h"

namespace nereid::codec::json {

/// Reads the request body {"parameters": {"unload_dependents": bool}}, which may be empty, and
/// returns the parameter. A value of another type counts as false.
base::Result<bool> DecodeModelUnloadRequest(std::string_view json);

}  // namespace nereid::codec::json
