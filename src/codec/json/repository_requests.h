// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/inference_service.h"
#include "base/result.h"

namespace nereid::codec::json {

// The bodies of the repository endpoints; an empty one is fine for each.

/// {"ready": bool}: whether only ready models are wanted.
base::Result<bool> DecodeIndexRequest(std::string_view json);

/// {"parameters": {"config": "<JSON text>", "file:<path>": "<base64>"}}; files come decoded.
base::Result<std::vector<api::LoadParameter>> DecodeLoadRequest(std::string_view json);

/// {"parameters": {"unload_dependents": bool}}; a value of another type counts as false.
base::Result<bool> DecodeUnloadRequest(std::string_view json);

/// Characters that do not belong to base64 are passed over.
std::string DecodeBase64(std::string_view text);

}  // namespace nereid::codec::json
