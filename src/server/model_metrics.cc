// SPDX-License-Identifier: Apache-2.0
#include "server/model_metrics.h"

#include <vector>

#include "config/metric_families.h"

namespace nereid::server {

using telemetry::Labels;
using telemetry::MetricKind;
using telemetry::StatisticDuration;

namespace {

struct DurationFamily {
  const char* name;
  const char* help;
  StatisticDuration telemetry::InferStatistics::*duration;
};

constexpr DurationFamily kCacheDurationFamilies[] = {
    {"nv_cache_hit_duration_per_model", "Time to look up cached responses, in microseconds",
     &telemetry::InferStatistics::cache_hit},
    {"nv_cache_miss_duration_per_model",
     "Time to look up and insert responses that were not cached, in microseconds",
     &telemetry::InferStatistics::cache_miss},
};

constexpr DurationFamily kDurationFamilies[] = {
    {"nv_inference_request_duration_us",
     "Total time of successful requests, from arrival to completion, in microseconds",
     &telemetry::InferStatistics::success},
    {"nv_inference_queue_duration_us", "Time of successful requests in the queue, in microseconds",
     &telemetry::InferStatistics::queue},
    {"nv_inference_compute_input_duration_us",
     "Time of the backend to prepare inputs, in microseconds",
     &telemetry::InferStatistics::compute_input},
    {"nv_inference_compute_infer_duration_us", "Time of the model's computations, in microseconds",
     &telemetry::InferStatistics::compute_infer},
    {"nv_inference_compute_output_duration_us",
     "Time of the backend to deliver outputs, in microseconds",
     &telemetry::InferStatistics::compute_output},
};

struct SummaryFamily {
  const char* name;
  const char* help;
  telemetry::LatencySummary telemetry::LatencySummaries::*summary;
  enum Models { kAll, kUncached, kCached } models;
};

constexpr SummaryFamily kSummaryFamilies[] = {
    {"nv_inference_request_summary_us",
     "Total time of successful requests, from arrival to completion, in microseconds",
     &telemetry::LatencySummaries::request, SummaryFamily::kUncached},
    {"nv_inference_queue_summary_us", "Time of successful requests in the queue, in microseconds",
     &telemetry::LatencySummaries::queue, SummaryFamily::kAll},
    {"nv_inference_compute_input_summary_us",
     "Time of the backend to prepare inputs, in microseconds",
     &telemetry::LatencySummaries::compute_input, SummaryFamily::kAll},
    {"nv_inference_compute_infer_summary_us", "Time of the model's computations, in microseconds",
     &telemetry::LatencySummaries::compute_infer, SummaryFamily::kAll},
    {"nv_inference_compute_output_summary_us",
     "Time of the backend to deliver outputs, in microseconds",
     &telemetry::LatencySummaries::compute_output, SummaryFamily::kAll},
    {"nv_cache_hit_summary_per_model", "Time to look up cached responses, in microseconds",
     &telemetry::LatencySummaries::cache_hit, SummaryFamily::kCached},
    {"nv_cache_miss_summary_per_model",
     "Time to look up and insert responses that were not cached, in microseconds",
     &telemetry::LatencySummaries::cache_miss, SummaryFamily::kCached},
};

/// Only models with response_cache enabled have these families; they are zero if the server has no
/// cache.
void WriteCacheMetrics(const telemetry::InferStatistics& statistics, const Labels& labels,
                       bool with_durations, telemetry::MetricWriter& writer) {
  writer
      .Family(MetricKind::kCounter, "nv_cache_num_hits_per_model",
              "Requests that were answered from the response cache")
      .Sample(labels, statistics.cache_hit.count);
  writer
      .Family(MetricKind::kCounter, "nv_cache_num_misses_per_model",
              "Requests whose responses were not in the response cache")
      .Sample(labels, statistics.cache_miss.count);
  if (!with_durations) return;
  for (const DurationFamily& family : kCacheDurationFamilies) {
    writer.Family(MetricKind::kCounter, family.name, family.help)
        .Sample(labels, (statistics.*family.duration).ns / 1000);
  }
}

void WriteSequenceMetrics(const telemetry::SequenceStatistics& statistics, const Labels& labels,
                          telemetry::MetricWriter& writer) {
  const auto gauge = [&](const char* name, const char* help, uint64_t value) {
    writer.Family(MetricKind::kGauge, name, help).Sample(labels, value);
  };
  gauge("nereid_sequence_active", "Sequences that have a slot", statistics.active);
  gauge("nereid_sequence_backlog", "Sequences that wait for a slot", statistics.backlog);
  gauge("nereid_sequence_slots", "Slots of the instances that accept sequences", statistics.slots);
  gauge("nereid_sequence_slots_in_use", "Slots that are occupied by a sequence",
        statistics.slots_in_use);
  auto& ended = writer.Family(MetricKind::kCounter, "nereid_sequence_ended_total",
                              "Ended sequences, by the reason of their end");
  const telemetry::LabelSeries by_reason(labels, "reason");
  for (const auto& [reason, count] : statistics.ended) ended.Sample(by_reason, reason, count);
}

void WriteThreadMetrics(const telemetry::CpuThreads& threads, const Labels& labels,
                        telemetry::MetricWriter& writer) {
  writer
      .Family(MetricKind::kGauge, "nereid_cpu_threads",
              "Threads of the model's last execution on the CPU that was decided about, and why")
      .Sample(labels.With("reason", std::string(threads.reason)),
              static_cast<uint64_t>(threads.last));
  if (threads.by_number.size() == 1) return;
  const telemetry::LabelSeries by_threads(labels, "threads");
  auto& decisions = writer.Family(MetricKind::kCounter, "nereid_cpu_threads_decisions_total",
                                  "Decisions of the CPU plan for a number of threads; few of a "
                                  "model with short executions");
  for (const auto& number : threads.by_number) {
    decisions.Sample(by_threads, std::to_string(number.threads), number.decisions);
  }
  auto& means = writer.Family(MetricKind::kGauge, "nereid_cpu_threads_execution_us",
                              "Mean duration of recent executions with a number of threads that "
                              "had their CPUs to themselves, in microseconds; 0: unknown");
  for (const auto& number : threads.by_number) {
    means.Sample(by_threads, std::to_string(number.threads), number.mean_ns / 1000);
  }
}

/// The counts of a part of a model's instances, and the labels of their series.
struct Part {
  Labels labels;
  telemetry::GpuPart counts;
};

/// Divides the counts of a model: those of each GPU, and the rest. A model without GPUs has one
/// part.
std::vector<Part> Divide(const telemetry::ModelStatistics& statistics, const Labels& labels) {
  telemetry::GpuPart rest{statistics.inference_count, statistics.execution_count,
                          statistics.inference_stats};
  std::vector<Part> parts;
  for (const auto& [uuid, counts] : statistics.on_gpus) {
    rest.inference_count -= counts.inference_count;
    rest.execution_count -= counts.execution_count;
    for (const DurationFamily& family : kDurationFamilies) {
      StatisticDuration& from = rest.inference_stats.*family.duration;
      from.count -= (counts.inference_stats.*family.duration).count;
      from.ns -= (counts.inference_stats.*family.duration).ns;
    }
    parts.push_back({labels.With("gpu_uuid", uuid), counts});
  }
  parts.push_back({labels, rest});
  return parts;
}

void WriteDurations(const std::vector<Part>& parts, telemetry::MetricWriter& writer) {
  for (const DurationFamily& family : kDurationFamilies) {
    auto& durations = writer.Family(MetricKind::kCounter, family.name, family.help);
    for (const Part& part : parts) {
      durations.Sample(part.labels, (part.counts.inference_stats.*family.duration).ns / 1000);
    }
  }
}

}  // namespace

Labels ModelLabels(const telemetry::ModelStatistics& statistics, const std::string& space,
                   const std::map<std::string, std::string>& tags) {
  Labels::Pairs pairs = {{"model", statistics.name}};
  if (!space.empty()) pairs.emplace_back("namespace", space);
  pairs.emplace_back("version", statistics.version);
  for (const auto& [key, value] : tags) pairs.emplace_back("_" + key, value);
  return Labels(std::move(pairs));
}

void WriteLoadDuration(uint64_t load_ns, const Labels& labels, telemetry::MetricWriter& writer) {
  writer
      .Family(MetricKind::kGauge, "nv_model_load_duration_secs",
              "Time that the load of the model took, in seconds")
      .Sample(labels, static_cast<double>(load_ns) / 1e9);
}

void WriteModelMetrics(const telemetry::ModelStatistics& statistics, const Labels& labels,
                       bool with_durations, telemetry::MetricWriter& writer) {
  const std::vector<Part> parts = Divide(statistics, labels);
  auto& successes = writer.Family(MetricKind::kCounter, "nv_inference_request_success",
                                  "Successful requests, including cache hits");
  for (const Part& part : parts) {
    successes.Sample(part.labels, part.counts.inference_stats.success.count);
  }
  auto& failures = writer.Family(MetricKind::kCounter, "nv_inference_request_failure",
                                 "Failed requests, by reason");
  const telemetry::LabelSeries by_reason(labels, "reason");
  for (size_t i = 0; i < telemetry::kFailureReasonNames.size(); ++i) {
    failures.Sample(by_reason, telemetry::kFailureReasonNames[i], statistics.failures_by_reason[i]);
  }
  auto& inferences = writer.Family(MetricKind::kCounter, "nv_inference_count",
                                   "Inferences; a request with batch size n counts n times");
  for (const Part& part : parts) inferences.Sample(part.labels, part.counts.inference_count);
  auto& executions = writer.Family(MetricKind::kCounter, "nv_inference_exec_count",
                                   "Executions of the model; a batch counts once");
  for (const Part& part : parts) executions.Sample(part.labels, part.counts.execution_count);
  auto& closed = writer.Family(MetricKind::kCounter, "nereid_batch_closed_total",
                               "Executed batches, by the reason for which they were closed");
  for (const auto& [reason, count] : statistics.batches_closed) {
    closed.Sample(by_reason, reason, count);
  }
  if (with_durations) WriteDurations(parts, writer);
  if (statistics.first_response_ms) {
    writer
        .Family(MetricKind::kHistogram, config::kFirstResponseFamily,
                "Time from the arrival of requests to their first response, in milliseconds")
        .Sample(labels, *statistics.first_response_ms);
  }
  writer
      .Family(MetricKind::kGauge, "nv_inference_pending_request_count",
              "Requests that wait for the backend")
      .Sample(labels, statistics.pending_requests);
  if (statistics.sequences) WriteSequenceMetrics(*statistics.sequences, labels, writer);
  if (statistics.response_cache) {
    WriteCacheMetrics(statistics.inference_stats, labels, with_durations, writer);
  }
  if (statistics.cpu_threads) WriteThreadMetrics(*statistics.cpu_threads, labels, writer);
  if (statistics.adaptive_batching.objective_us != 0) {
    writer
        .Family(MetricKind::kGauge, "nereid_latency_objective_us",
                "Latency objective of adaptive batching, in microseconds")
        .Sample(labels, statistics.adaptive_batching.objective_us);
  }
  if (statistics.adaptive_batching.size_limit == 0) return;
  writer
      .Family(MetricKind::kGauge, "nereid_adaptive_batch_size_limit",
              "Current maximum batch size of adaptive batching")
      .Sample(labels, statistics.adaptive_batching.size_limit);
}

void WriteModelSummaries(const telemetry::ModelStatistics& statistics,
                         const telemetry::LatencySummaries& summaries, const SummaryForm& form,
                         const Labels& labels, telemetry::MetricWriter& writer) {
  const auto absent = statistics.response_cache ? SummaryFamily::kUncached : SummaryFamily::kCached;
  for (const SummaryFamily& family : kSummaryFamilies) {
    if (family.models == absent) continue;
    writer.Summaries(family.name, family.help)
        .Sample(labels, (summaries.*family.summary).Snapshot(form.quantiles, form.now_ns));
  }
}

}  // namespace nereid::server
