// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cache/cache_observer.h"
#include "model/statistics_shard.h"

namespace nereid::model {

/// The part of a model's statistics that its response cache counts. Thread-safe.
class CacheStatistics final : public cache::CacheObserver {
 public:
  CacheStatistics(const base::Clock& clock, LatencyDetail detail) : statistics_(clock, detail) {}

  void OnHit(const request::InferenceRequest& request, uint64_t start_ns,
             uint64_t end_ns) override {
    statistics_.AddCacheHit(request, start_ns, end_ns);
  }
  void OnMiss(uint64_t lookup_and_insertion_ns) override {
    statistics_.AddCacheMiss(lookup_and_insertion_ns);
  }

  void MergeInto(telemetry::ModelStatistics* total) const { statistics_.MergeInto(total); }
  void MergeInto(telemetry::LatencySummaries* total) const { statistics_.MergeInto(total); }

 private:
  StatisticsShard statistics_;
};

}  // namespace nereid::model
