// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "repository/model_id.h"
#include "repository/requests/load_board.h"
#include "telemetry/metric_writer.h"

namespace nereid::server {

/// Writes the metrics of the loads of one model. Their labels are the model, its namespace if it
/// has one, and the metric_tags of its last configuration.
void WriteLoadMetrics(const repository::ModelId& id, const repository::LoadRecord& record,
                      telemetry::MetricWriter& writer);

}  // namespace nereid::server
