// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/metadata.h"
#include "base/result.h"

namespace nereid::codec::json {

/// Reads the request body {"ready": bool} and returns whether only ready models are wanted. The
/// body may be empty.
base::Result<bool> DecodeRepositoryIndexRequest(std::string_view json);

/// Returns the response body. The order of the members is Triton's.
std::string EncodeRepositoryIndex(const std::vector<api::RepositoryIndexEntry>& entries);

}  // namespace nereid::codec::json
