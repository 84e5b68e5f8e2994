// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/statistics.h"

namespace inference {
class ModelStatistics;
}

namespace nereid::frontend::grpc {

/// Fills the message of one model version.
void SetStatistics(const api::ModelStatistics& from, inference::ModelStatistics* to);

}  // namespace nereid::frontend::grpc
