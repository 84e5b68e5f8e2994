// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "telemetry/metric_writer.h"
#include "telemetry/model_statistics.h"

namespace nereid::server {

/// Writes the nv_inference_* families of one model version. `space` is the model's namespace: a
/// label where it is not empty. `tags` are the configuration's
/// metric_tags, which become labels with a leading underscore. Durations are in microseconds, each
/// sum truncated; `with_durations` is the setting counter_latencies.
void WriteModelMetrics(const telemetry::ModelStatistics& statistics, const std::string& space,
                       const std::map<std::string, std::string>& tags, bool with_durations,
                       telemetry::MetricWriter& writer);

}  // namespace nereid::server
