// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "triton/core/tritonserver.h"

namespace nereid::caches {

/// The cache's own lines on the metrics page (gauges, as in Triton): nv_cache_util,
/// nv_cache_num_entries, …_lookups, …_hits, …_misses, …_evictions, nv_cache_lookup_duration and
/// nv_cache_insertion_duration (microseconds in all). Where the server has no metrics they are
/// left out. Thread-safe.
class CacheMetrics {
 public:
  CacheMetrics();
  ~CacheMetrics();
  CacheMetrics(const CacheMetrics&) = delete;
  CacheMetrics& operator=(const CacheMetrics&) = delete;

  void Lookup(bool hit, uint64_t duration_ns);
  /// After an insertion: how full the cache is, in 0..1, and what it holds now.
  void Insertion(double utilization, uint64_t entries, uint64_t evictions, uint64_t duration_ns);

 private:
  class Gauge;
  std::unique_ptr<Gauge> utilization_, entries_, lookups_, hits_, misses_, evictions_,
      lookup_duration_, insertion_duration_;
};

}  // namespace nereid::caches
