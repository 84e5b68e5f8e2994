// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "api/statistics.h"
#include "base/json_writer.h"

namespace nereid::codec::json {

/// Writes an object with the counts and times of each part of the requests, in Triton's order.
void WriteInferStatistics(const api::InferStatistics& stats, base::JsonWriter* json);

/// Returns the response body of the statistics of model versions. The order of the members is
/// Triton's.
std::string EncodeModelStatistics(const std::vector<api::ModelStatistics>& statistics);

}  // namespace nereid::codec::json
