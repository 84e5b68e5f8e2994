// SPDX-License-Identifier: Apache-2.0
#include "server/residency/residency_metrics.h"

#include <string_view>

namespace nereid::server {
namespace {

using telemetry::Labels;
using telemetry::MetricKind;

/// Writes a metric that has one value.
void Write(telemetry::MetricWriter& writer, MetricKind kind, std::string_view name,
           std::string_view help, uint64_t value) {
  writer.Family(kind, name, help).Sample(Labels(), value);
}

void WriteMemory(const ResidencyNumbers& numbers,
                 const std::map<std::string, uint64_t>& bytes_by_model,
                 telemetry::MetricWriter& writer) {
  Write(writer, MetricKind::kGauge, "nereid_model_memory_budget_bytes",
        "Bytes that models may occupy (--model-memory-budget)", numbers.budget_bytes);
  Write(writer, MetricKind::kGauge, "nereid_model_memory_used_bytes",
        "Bytes that all models occupy, those being evicted included", numbers.held_bytes);
  Write(writer, MetricKind::kGauge, "nereid_model_memory_peak_bytes",
        "The most bytes that all models have occupied at one time", numbers.most_bytes);
  auto& models = writer.Family(MetricKind::kGauge, "nereid_model_memory_bytes",
                               "Bytes that the versions of a model occupy, as measured");
  for (const auto& [model, bytes] : bytes_by_model) {
    models.Sample(Labels({{"model", model}}), bytes);
  }
}

void WriteRequests(const ResidencyNumbers& numbers, uint64_t hits,
                   telemetry::MetricWriter& writer) {
  Write(writer, MetricKind::kCounter, "nereid_model_memory_hits_total",
        "Requests that found their model in memory", hits);
  Write(writer, MetricKind::kCounter, "nereid_model_memory_waits_total",
        "Requests that had to wait for their model", numbers.waits);
  Write(writer, MetricKind::kCounter, "nereid_model_memory_wait_duration_us",
        "Time of all requests that waited for their model, in microseconds",
        numbers.wait_ns / 1000);
  Write(writer, MetricKind::kGauge, "nereid_model_memory_waiting_requests",
        "Requests that wait for their model", numbers.waiting);
  Write(writer, MetricKind::kCounter, "nereid_model_memory_refusals_total",
        "Requests that were refused, or given up by their client, without their model",
        numbers.refusals);
}

}  // namespace

void WriteResidencyMetrics(const ResidencyNumbers& numbers, uint64_t hits,
                           const std::map<std::string, uint64_t>& bytes_by_model,
                           telemetry::MetricWriter& writer) {
  WriteMemory(numbers, bytes_by_model, writer);
  WriteRequests(numbers, hits, writer);
  auto& loads =
      writer.Family(MetricKind::kCounter, "nereid_model_memory_loads_total",
                    "Loads of models for requests and for clients, with a budget, by result");
  loads.Sample(Labels({{"result", "ok"}}), numbers.loads);
  loads.Sample(Labels({{"result", "failed"}}), numbers.failed_loads);
  Write(writer, MetricKind::kCounter, "nereid_model_memory_evictions_total",
        "Models that were removed from memory for others", numbers.evictions);
}

}  // namespace nereid::server
