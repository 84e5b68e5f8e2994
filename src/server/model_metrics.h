// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "telemetry/latency_summary.h"
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

/// How the summaries of the server are written.
struct SummaryForm {
  std::vector<double> quantiles;
  uint64_t now_ns = 0;  // monotonic
};

/// Writes the nv_inference_*_summary_us families of one model version, and those of its response
/// cache. A model that has one has no summary of requests: part of the time of a miss is known only
/// after the request has ended. Other parameters as above.
void WriteModelSummaries(const telemetry::ModelStatistics& statistics,
                         const telemetry::LatencySummaries& summaries, const SummaryForm& form,
                         const std::string& space, const std::map<std::string, std::string>& tags,
                         telemetry::MetricWriter& writer);

}  // namespace nereid::server
