// SPDX-License-Identifier: Apache-2.0
// The cost of a metrics page of many models, without the models: what a scrape adds to that is
// the collection of their statistics. bench/metrics_page measures a whole server.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "server/model_metrics.h"
#include "telemetry/metrics.h"

namespace nereid::server {
namespace {

std::vector<telemetry::ModelStatistics> Models(int64_t count) {
  std::vector<telemetry::ModelStatistics> models;
  for (int64_t i = 0; i < count; ++i) {
    telemetry::ModelStatistics statistics;
    statistics.name = "a_model_of_usual_length_" + std::to_string(i);
    statistics.version = "1";
    statistics.inference_stats.success = {123'456, 987'654'321'000};
    for (const char* reason : {"full", "preferred", "timeout", "idle", "stop", "sequence"}) {
      statistics.batches_closed.emplace_back(reason, 1000);
    }
    models.push_back(std::move(statistics));
  }
  return models;
}

void MetricsPage(benchmark::State& state, telemetry::Exposition exposition) {
  const auto models = Models(state.range(0));
  telemetry::Registry registry;
  const telemetry::ScopedCollector collector(registry, [&](telemetry::MetricWriter& writer) {
    for (const telemetry::ModelStatistics& statistics : models) {
      const telemetry::Labels labels = ModelLabels(statistics, "", {});
      WriteModelMetrics(statistics, labels, /*with_durations=*/true, writer);
      WriteLoadDuration(1, labels, writer);
    }
  });
  size_t bytes = 0;
  for (auto _ : state) bytes = registry.Render(exposition).size();
  state.counters["bytes"] = static_cast<double>(bytes);
}

BENCHMARK_CAPTURE(MetricsPage, text, telemetry::Exposition::kPrometheusText)
    ->Arg(1000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(MetricsPage, open_metrics, telemetry::Exposition::kOpenMetrics)
    ->Arg(1000)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace nereid::server
