// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "telemetry/labels.h"
#include "telemetry/latency_summary.h"
#include "telemetry/metric_writer.h"
#include "telemetry/model_statistics.h"

namespace nereid::server {

/// Returns the labels of all metrics of one model version. `space` is the model's namespace, a
/// label if it is not empty. `tags` are the configuration's metric_tags, which become labels with a
/// leading underscore.
telemetry::Labels ModelLabels(const telemetry::ModelStatistics& statistics,
                              const std::string& space,
                              const std::map<std::string, std::string>& tags);

/// Writes the nv_inference_* families of one model version. `labels` is the result of ModelLabels.
/// Durations are in microseconds; each sum is rounded down. `with_durations` is the setting
/// counter_latencies. What instances on a GPU have counted has the label gpu_uuid; the series
/// without it has the rest.
void WriteModelMetrics(const telemetry::ModelStatistics& statistics,
                       const telemetry::Labels& labels, bool with_durations,
                       telemetry::MetricWriter& writer);

/// Writes how long the load of a model version took.
void WriteLoadDuration(uint64_t load_ns, const telemetry::Labels& labels,
                       telemetry::MetricWriter& writer);

/// How the server's latency summaries are written.
struct SummaryForm {
  std::vector<double> quantiles;
  uint64_t now_ns = 0;  // monotonic
};

/// Writes the nv_inference_*_summary_us families of one model version and the summaries of its
/// response cache. A model with a response cache has no summary of requests, because part of the
/// time of a cache miss is known only after the request has ended. Other parameters as in
/// WriteModelMetrics.
void WriteModelSummaries(const telemetry::ModelStatistics& statistics,
                         const telemetry::LatencySummaries& summaries, const SummaryForm& form,
                         const telemetry::Labels& labels, telemetry::MetricWriter& writer);

}  // namespace nereid::server
