// SPDX-License-Identifier: Apache-2.0
#include "server/load_metrics.h"

#include <utility>

namespace nereid::server {

using telemetry::Labels;
using telemetry::MetricKind;

void WriteLoadMetrics(const repository::ModelId& id, const repository::LoadRecord& record,
                      telemetry::MetricWriter& writer) {
  Labels::Pairs pairs{{"model", id.name}};
  if (!id.space.empty()) pairs.emplace_back("namespace", id.space);
  for (const auto& [key, value] : record.tags) pairs.emplace_back("_" + key, value);
  const Labels labels(std::move(pairs));
  auto& loads =
      writer.Family(MetricKind::kCounter, "nereid_model_loads_total",
                    "Loads of a model that have ended, by result; a load without effect does not "
                    "count");
  const telemetry::LabelSeries by_result(labels, "result");
  loads.Sample(by_result, "success", record.successes);
  loads.Sample(by_result, "failure", record.failures);
  writer
      .Family(MetricKind::kGauge, "nereid_model_load_failed",
              "Whether the last load of a model has failed; an older version may serve [0, 1]")
      .Sample(labels, uint64_t{record.HasFailed()});
  writer
      .Family(MetricKind::kGauge, "nereid_model_load_running_seconds",
              "Time since the load of a model has begun, in seconds; 0 if none runs")
      .Sample(labels, record.current ? static_cast<double>(record.current->elapsed_ns) / 1e9 : 0.0);
}

}  // namespace nereid::server
