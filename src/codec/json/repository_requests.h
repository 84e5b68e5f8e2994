// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/inference_service.h"
#include "base/result.h"

namespace nereid::codec::json {

// Read the request bodies of the repository endpoints. An empty body is valid for each.

/// Reads {"ready": bool} and returns whether only ready models are wanted.
base::Result<bool> DecodeIndexRequest(std::string_view json);

/// Reads {"parameters": {"config": "<JSON text>", "file:<path>": "<base64>"}}. Files are returned
/// decoded.
base::Result<std::vector<api::LoadParameter>> DecodeLoadRequest(std::string_view json);

/// Reads {"parameters": {"unload_dependents": bool}}. A value of another type counts as false.
base::Result<bool> DecodeUnloadRequest(std::string_view json);

/// Decodes base64; ignores characters that are not base64 digits.
std::string DecodeBase64(std::string_view text);

}  // namespace nereid::codec::json
