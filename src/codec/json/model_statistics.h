// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "api/statistics.h"

namespace nereid::codec::json {

/// Returns the response body of the statistics of model versions. The order of the members is
/// Triton's.
std::string EncodeModelStatistics(const std::vector<api::ModelStatistics>& statistics);

}  // namespace nereid::codec::json
