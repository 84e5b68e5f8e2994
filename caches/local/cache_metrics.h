// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "triton/core/tritonserver.h"

namespace nereid::caches {

/// The metrics of the local cache (gauges, as in Triton): nv_cache_util, nv_cache_num_entries,
/// …_lookups, …_hits, …_misses, …_evictions, and the totals nv_cache_lookup_duration and
/// nv_cache_insertion_duration in microseconds. If the server has no metrics, they are omitted.
/// Thread-safe.
class CacheMetrics {
 public:
  CacheMetrics();
  ~CacheMetrics();
  CacheMetrics(const CacheMetrics&) = delete;
  CacheMetrics& operator=(const CacheMetrics&) = delete;

  /// Records a lookup and its duration.
  void Lookup(bool hit, uint64_t duration_ns);
  /// Records an insertion and the state of the cache after it. `utilization` is between 0 and 1.
  void Insertion(double utilization, uint64_t entries, uint64_t evictions, uint64_t duration_ns);

 private:
  class Gauge;
  std::unique_ptr<Gauge> utilization_, entries_, lookups_, hits_, misses_, evictions_,
      lookup_duration_, insertion_duration_;
};

}  // namespace nereid::caches
