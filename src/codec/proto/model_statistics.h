// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "api/statistics.h"

namespace inference {
class ModelStatisticsResponse;
}  // namespace inference

namespace nereid::codec::proto {

/// Fills the message of the statistics of model versions.
void EncodeModelStatistics(const std::vector<api::ModelStatistics>& statistics,
                           inference::ModelStatisticsResponse* message);

}  // namespace nereid::codec::proto
