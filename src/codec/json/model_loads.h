// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "api/load_control.h"

namespace nereid::codec::json {

/// Returns the response body of a model's loads, an operation that only HTTP has.
std::string EncodeModelLoads(const api::ModelLoads& loads);

}  // namespace nereid::codec::json
