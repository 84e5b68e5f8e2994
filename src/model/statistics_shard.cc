// SPDX-License-Identifier: Apache-2.0
#include "model/statistics_shard.h"

#include <algorithm>

#include "telemetry/latency_buckets.h"

namespace nereid::model {
namespace {

/// Returns 0 if the end precedes the start: the times come from plug-ins.
uint64_t Elapsed(uint64_t start_ns, uint64_t end_ns) {
  return end_ns > start_ns ? end_ns - start_ns : 0;
}

template <typename Times>
void AddCompute(const backend::ExecutionTimes& times, Times* stats) {
  stats->compute_input.Add(Elapsed(times.exec_start_ns, times.compute_start_ns));
  stats->compute_infer.Add(Elapsed(times.compute_start_ns, times.compute_end_ns));
  stats->compute_output.Add(Elapsed(times.compute_end_ns, times.exec_end_ns));
}

/// Adds the times of an execution that was counted without them.
template <typename Times>
void AddLateCompute(const backend::ExecutionTimes& times, Times* stats) {
  stats->compute_input.ns += Elapsed(times.exec_start_ns, times.compute_start_ns);
  stats->compute_infer.ns += Elapsed(times.compute_start_ns, times.compute_end_ns);
  stats->compute_output.ns += Elapsed(times.compute_end_ns, times.exec_end_ns);
}

/// Adds the times to those of the request that this one was made for.
void ReportTimes(const request::InferenceRequest& request, const backend::ExecutionTimes& times) {
  if (request.compute_times == nullptr) return;
  request.compute_times->Add(Elapsed(request.times.queue_ns, times.exec_start_ns),
                             Elapsed(times.exec_start_ns, times.compute_start_ns),
                             Elapsed(times.compute_start_ns, times.compute_end_ns),
                             Elapsed(times.compute_end_ns, times.exec_end_ns));
}

// Finds the element with this key in a list sorted by key, or inserts one there.
template <typename Key, typename List, typename Make>
auto& FindOrInsert(List* list, const Key& key, const Make& key_of) {
  const auto position = std::lower_bound(
      list->begin(), list->end(), key,
      [&](const auto& element, const Key& wanted) { return key_of(element) < wanted; });
  if (position != list->end() && key_of(*position) == key) return *position;
  return *list->insert(position, typename List::value_type{});
}

}  // namespace

StatisticsShard::StatisticsShard(const base::Clock& clock, LatencyDetail detail,
                                 std::string gpu_uuid)
    : clock_(clock),
      gpu_uuid_(std::move(gpu_uuid)),
      summaries_(detail.summaries ? std::make_unique<telemetry::LatencySummaries>() : nullptr) {
  if (detail.counts) counts_.latency_counts.resize(telemetry::kLatencyBuckets);
}

void StatisticsShard::CountLatency(uint64_t total_ns) {
  if (counts_.latency_counts.empty()) return;
  ++counts_.latency_counts[telemetry::LatencyBucketOf(total_ns / 1000)];
}

void StatisticsShard::AddRequest(const request::InferenceRequest& request, bool success,
                                 const backend::ExecutionTimes& times) {
  const uint64_t now_ns = clock_.NowNs();
  const uint64_t total_ns = Elapsed(request.times.start_ns, now_ns);
  if (success) ReportTimes(request, times);
  base::MutexLock lock(mutex_);
  auto& stats = counts_.inference_stats;
  if (!success) {
    stats.fail.Add(total_ns);
    ++counts_.failures_by_reason[static_cast<size_t>(telemetry::FailureReason::kBackend)];
    return;
  }
  CountSuccess(request, total_ns);
  stats.queue.Add(Elapsed(request.times.queue_ns, times.exec_start_ns));
  AddCompute(times, &stats);
  if (summaries_ != nullptr) summaries_->request.Observe(total_ns / 1000, now_ns);
  ObservePhases(request, times, now_ns);
}

void StatisticsShard::CountSuccess(const request::InferenceRequest& request, uint64_t total_ns) {
  counts_.inference_stats.success.Add(total_ns);
  CountLatency(total_ns);
  counts_.inference_count += std::max<uint64_t>(1, request.batch_size);
}

void StatisticsShard::ObservePhases(const request::InferenceRequest& request,
                                    const backend::ExecutionTimes& times, uint64_t now_ns) {
  if (summaries_ == nullptr) return;
  const auto observe = [now_ns](telemetry::LatencySummary& summary, uint64_t ns) {
    summary.Observe(ns / 1000, now_ns);
  };
  observe(summaries_->queue, Elapsed(request.times.queue_ns, times.exec_start_ns));
  observe(summaries_->compute_input, Elapsed(times.exec_start_ns, times.compute_start_ns));
  observe(summaries_->compute_infer, Elapsed(times.compute_start_ns, times.compute_end_ns));
  observe(summaries_->compute_output, Elapsed(times.compute_end_ns, times.exec_end_ns));
}

void StatisticsShard::AddAnswer(const request::InferenceRequest& request) {
  const uint64_t now_ns = clock_.NowNs(), now_ms = clock_.WallMs();
  const uint64_t total_ns = Elapsed(request.times.start_ns, now_ns);
  const backend::ExecutionTimes none;
  base::MutexLock lock(mutex_);
  CountSuccess(request, total_ns);
  counts_.inference_stats.queue.Add(0);
  AddCompute(none, &counts_.inference_stats);
  AddCompute(none, &CountExecution(std::max<uint64_t>(1, request.batch_size), now_ms));
  if (summaries_ != nullptr) summaries_->request.Observe(total_ns / 1000, now_ns);
}

void StatisticsShard::AddTimes(const request::InferenceRequest& request,
                               const backend::ExecutionTimes& times) {
  ReportTimes(request, times);
  const uint64_t now_ns = clock_.NowNs();
  base::MutexLock lock(mutex_);
  counts_.inference_stats.queue.ns += Elapsed(request.times.queue_ns, times.exec_start_ns);
  AddLateCompute(times, &counts_.inference_stats);
  AddLateCompute(times, &batches_[std::max<uint64_t>(1, request.batch_size)]);
  ObservePhases(request, times, now_ns);
}

void StatisticsShard::AddRefusal(const request::InferenceRequest& request,
                                 telemetry::FailureReason reason) {
  const uint64_t total_ns = Elapsed(request.times.start_ns, clock_.NowNs());
  base::MutexLock lock(mutex_);
  counts_.inference_stats.fail.Add(total_ns);
  ++counts_.failures_by_reason[static_cast<size_t>(reason)];
}

void StatisticsShard::AddCacheHit(const request::InferenceRequest& request, uint64_t start_ns,
                                  uint64_t end_ns) {
  const uint64_t now_ns = clock_.NowNs();
  const uint64_t queue_ns = Elapsed(request.times.queue_ns, start_ns);
  base::MutexLock lock(mutex_);
  auto& stats = counts_.inference_stats;
  const uint64_t total_ns = Elapsed(request.times.start_ns, now_ns);
  stats.success.Add(total_ns);
  CountLatency(total_ns);
  stats.queue.Add(queue_ns);
  stats.cache_hit.Add(Elapsed(start_ns, end_ns));
  if (summaries_ == nullptr) return;
  summaries_->queue.Observe(queue_ns / 1000, now_ns);
  summaries_->cache_hit.Observe(Elapsed(start_ns, end_ns) / 1000, now_ns);
}

void StatisticsShard::AddCacheMiss(uint64_t lookup_and_insertion_ns) {
  base::MutexLock lock(mutex_);
  counts_.inference_stats.cache_miss.Add(lookup_and_insertion_ns);
  if (summaries_ == nullptr) return;
  summaries_->cache_miss.Observe(lookup_and_insertion_ns / 1000, clock_.NowNs());
}

void StatisticsShard::AddBatch(uint64_t batch_size, const backend::ExecutionTimes& times) {
  const uint64_t now_ms = clock_.WallMs();
  base::MutexLock lock(mutex_);
  AddCompute(times, &CountExecution(batch_size, now_ms));
}

telemetry::BatchStatistics& StatisticsShard::CountExecution(uint64_t batch_size, uint64_t now_ms) {
  counts_.last_inference_ms = std::max(counts_.last_inference_ms, now_ms);
  ++counts_.execution_count;
  telemetry::BatchStatistics& stats = batches_[batch_size];
  stats.batch_size = batch_size;
  return stats;
}

void StatisticsShard::AddResponse(const backend::ResponseTimes& times) {
  const uint64_t all = Elapsed(times.response_start_ns, times.response_end_ns);
  // A response without output tensors has no output phase; all its time counts as inference.
  const bool has_output = times.compute_output_start_ns != 0;
  const uint64_t infer =
      has_output ? Elapsed(times.response_start_ns, times.compute_output_start_ns) : all;
  const uint64_t output =
      has_output ? Elapsed(times.compute_output_start_ns, times.response_end_ns) : 0;
  base::MutexLock lock(mutex_);
  auto& stats = responses_[times.response_index];
  if (times.error.code() == base::StatusCode::kCancelled) {
    // As in Triton, a cancelled response counts nowhere else.
    stats.cancel.Add(all);
    return;
  }
  stats.compute_infer.Add(infer);
  if (has_output) stats.compute_output.Add(output);
  if (!times.error.ok()) {
    stats.fail.Add(all);
  } else if (has_output) {
    stats.success.Add(all);
  } else {
    stats.empty_response.Add(all);
  }
}

telemetry::MemoryUsage ToMemoryUsage(const memory::BufferAttributes& usage) {
  constexpr const char* kTypes[] = {"CPU", "CPU_PINNED", "GPU"};
  return {kTypes[static_cast<int>(usage.memory_type) % 3], usage.memory_type_id, usage.byte_size};
}

void StatisticsShard::SetMemoryUsage(const std::vector<memory::BufferAttributes>& usage) {
  std::vector<telemetry::MemoryUsage> reported;
  for (const memory::BufferAttributes& one : usage) reported.push_back(ToMemoryUsage(one));
  base::MutexLock lock(mutex_);
  counts_.memory_usage = std::move(reported);
}

void StatisticsShard::MergeInto(telemetry::ModelStatistics* total) const {
  base::MutexLock lock(mutex_);
  total->last_inference_ms = std::max(total->last_inference_ms, counts_.last_inference_ms);
  total->inference_count += counts_.inference_count;
  total->execution_count += counts_.execution_count;
  total->inference_stats.Merge(counts_.inference_stats);
  total->latency_counts.resize(
      std::max(total->latency_counts.size(), counts_.latency_counts.size()));
  for (size_t i = 0; i < counts_.latency_counts.size(); ++i) {
    total->latency_counts[i] += counts_.latency_counts[i];
  }
  if (!gpu_uuid_.empty()) {
    telemetry::GpuPart& part = total->on_gpus[gpu_uuid_];
    part.inference_count += counts_.inference_count;
    part.execution_count += counts_.execution_count;
    part.inference_stats.Merge(counts_.inference_stats);
  }
  for (size_t i = 0; i < total->failures_by_reason.size(); ++i) {
    total->failures_by_reason[i] += counts_.failures_by_reason[i];
  }
  for (const auto& [size, stats] : batches_) {
    auto& batch = FindOrInsert(&total->batch_stats, size,
                               [](const auto& element) { return element.batch_size; });
    batch.batch_size = size;
    batch.compute_input.Merge(stats.compute_input);
    batch.compute_infer.Merge(stats.compute_infer);
    batch.compute_output.Merge(stats.compute_output);
  }
  for (const auto& [index, stats] : responses_) {
    // The keys are decimal text but are ordered by number.
    auto& entry = FindOrInsert(&total->response_stats, index, [](const auto& element) {
      return static_cast<uint64_t>(std::stoull(element.first));
    });
    entry.first = std::to_string(index);
    entry.second.compute_infer.Merge(stats.compute_infer);
    entry.second.compute_output.Merge(stats.compute_output);
    entry.second.success.Merge(stats.success);
    entry.second.fail.Merge(stats.fail);
    entry.second.empty_response.Merge(stats.empty_response);
    entry.second.cancel.Merge(stats.cancel);
  }
  total->memory_usage.insert(total->memory_usage.end(), counts_.memory_usage.begin(),
                             counts_.memory_usage.end());
}

void StatisticsShard::MergeInto(telemetry::LatencySummaries* total) const {
  base::MutexLock lock(mutex_);
  if (summaries_ != nullptr) total->Merge(*summaries_);
}

}  // namespace nereid::model
