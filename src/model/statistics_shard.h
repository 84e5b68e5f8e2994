// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backend/statistics_observer.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "telemetry/latency_summary.h"
#include "telemetry/model_statistics.h"

namespace nereid::model {

/// What is kept of the latencies of requests, beside their sums.
struct LatencyDetail {
  bool summaries = false;  // telemetry::LatencySummaries
  bool counts = false;     // telemetry::ModelStatistics::latency_counts
};

/// Converts a plug-in's report of memory to the form of the statistics.
telemetry::MemoryUsage ToMemoryUsage(const memory::BufferAttributes& usage);

/// A part of a model's statistics. Each instance has one, so that instances do not wait for each
/// other when they count; readers add the parts. Thread-safe.
class StatisticsShard {
 public:
  /// `gpu_uuid` is the GPU of the instance that counts here, or "".
  explicit StatisticsShard(const base::Clock& clock, LatencyDetail detail = {},
                           std::string gpu_uuid = "");

  void AddRequest(const request::InferenceRequest& request, bool success,
                  const backend::ExecutionTimes& times);
  /// Counts a successful request and its execution, as AddRequest and AddBatch do together, before
  /// the times of the execution are known. AddTimes follows, once.
  void AddAnswer(const request::InferenceRequest& request);
  void AddTimes(const request::InferenceRequest& request, const backend::ExecutionTimes& times);
  /// Counts a request that failed before it reached an instance.
  void AddRefusal(const request::InferenceRequest& request, telemetry::FailureReason reason);
  /// Counts a request that the response cache answered; `start_ns` and `end_ns` are the times of
  /// the look-up.
  void AddCacheHit(const request::InferenceRequest& request, uint64_t start_ns, uint64_t end_ns);
  void AddCacheMiss(uint64_t lookup_and_insertion_ns);
  void AddBatch(uint64_t batch_size, const backend::ExecutionTimes& times);
  void AddResponse(const backend::ResponseTimes& times);
  /// Replaces the memory that this part has reported.
  void SetMemoryUsage(const std::vector<memory::BufferAttributes>& usage);

  /// Adds this part to `total`, and to the part of its GPU if it has one. Keeps total's
  /// response_stats sorted by index and its batch_stats sorted by size.
  void MergeInto(telemetry::ModelStatistics* total) const;
  /// Adds the summaries to `total`, if this part has any.
  void MergeInto(telemetry::LatencySummaries* total) const;

 private:
  /// Counts a successful request and its latency.
  void CountSuccess(const request::InferenceRequest& request, uint64_t total_ns)
      NEREID_REQUIRES(mutex_);
  void CountLatency(uint64_t total_ns) NEREID_REQUIRES(mutex_);
  telemetry::BatchStatistics& CountExecution(uint64_t batch_size, uint64_t now_ms)
      NEREID_REQUIRES(mutex_);
  /// Observes the phases of an execution in the summaries, if there are any.
  void ObservePhases(const request::InferenceRequest& request, const backend::ExecutionTimes& times,
                     uint64_t now_ns) NEREID_REQUIRES(mutex_);

  const base::Clock& clock_;
  const std::string gpu_uuid_;
  mutable base::Mutex mutex_;
  telemetry::ModelStatistics counts_ NEREID_GUARDED_BY(mutex_);
  std::map<uint64_t, telemetry::BatchStatistics> batches_ NEREID_GUARDED_BY(mutex_);  // by size
  std::map<uint64_t, telemetry::ResponseStatistics> responses_
      NEREID_GUARDED_BY(mutex_);                                 // by index
  const std::unique_ptr<telemetry::LatencySummaries> summaries_  // null: off
      NEREID_PT_GUARDED_BY(mutex_);
};

}  // namespace nereid::model
