// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "api/metadata.h"

namespace nereid::codec::json {

/// Returns the response body of the server's metadata. The order of the members is Triton's.
std::string EncodeServerMetadata(const api::ServerMetadata& metadata);

}  // namespace nereid::codec::json
