// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "api/metadata.h"

namespace nereid::codec::json {

/// Returns the response body of a model's metadata. The order of the members is Triton's.
std::string EncodeModelMetadata(const api::ModelMetadata& metadata);

}  // namespace nereid::codec::json
