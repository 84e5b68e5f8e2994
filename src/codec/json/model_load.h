// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "api/inference_service.h"
#include "base/result.h"

namespace nereid::codec::json {

/// Reads the request body {"parameters": {"config": "<JSON text>", "file:<path>": "<base64>"}},
/// which may be empty. Files are returned decoded.
base::Result<std::vector<api::LoadParameter>> DecodeModelLoadRequest(std::string_view json);

}  // namespace nereid::codec::json
