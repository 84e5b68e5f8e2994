// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "backend/statistics_observer.h"
#include "base/clock.h"
#include "telemetry/latency_summary.h"
#include "telemetry/model_statistics.h"

namespace nereid::model {

/// A plug-in's report of memory as the statistics show it.
telemetry::MemoryUsage ToMemoryUsage(const memory::BufferAttributes& usage);

/// A share of a model's statistics. Each instance has one, so that instances do not wait for each
/// other to count; readers add the shares up. Thread-safe.
class StatisticsShard {
 public:
  /// `with_summaries`: also keeps what latency summaries need.
  explicit StatisticsShard(const base::Clock& clock, bool with_summaries = false)
      : clock_(clock),
        summaries_(with_summaries ? std::make_unique<telemetry::LatencySummaries>() : nullptr) {}

  void AddRequest(const request::InferenceRequest& request, bool success,
                  const backend::ExecutionTimes& times);
  /// A request that failed before an instance had it.
  void AddRefusal(const request::InferenceRequest& request, telemetry::FailureReason reason);
  /// A request that the response cache answered; its times are those of the look-up.
  void AddCacheHit(const request::InferenceRequest& request, uint64_t start_ns, uint64_t end_ns);
  void AddCacheMiss(uint64_t lookup_and_insertion_ns);
  void AddBatch(uint64_t batch_size, const backend::ExecutionTimes& times);
  void AddResponse(const backend::ResponseTimes& times);
  void AddMemoryUsage(const memory::BufferAttributes& usage);

  /// Adds this share to `total`, whose response_stats and batch_stats stay sorted by key and size.
  void MergeInto(telemetry::ModelStatistics* total) const;
  /// The same for summaries; nothing if it has none.
  void MergeInto(telemetry::LatencySummaries* total) const;

 private:
  const base::Clock& clock_;
  mutable std::mutex mutex_;
  telemetry::ModelStatistics counts_;                             // guarded by mutex_
  std::map<uint64_t, telemetry::BatchStatistics> batches_;        // guarded by mutex_
  std::map<uint64_t, telemetry::ResponseStatistics> responses_;   // guarded by mutex_, by index
  const std::unique_ptr<telemetry::LatencySummaries> summaries_;  // guarded by mutex_; null: off
};

}  // namespace nereid::model
