// SPDX-License-Identifier: Apache-2.0
#include "local/cache_metrics.h"

#include "nereid/backend/error.h"
#include "nereid/backend/log.h"

namespace nereid::caches {

using backend::Error;

/// A metric family with one metric without labels. Does nothing if the server refuses to create it.
class CacheMetrics::Gauge {
 public:
  Gauge(const char* name, const char* description) {
    const Error made(
        TRITONSERVER_MetricFamilyNew(&family_, TRITONSERVER_METRIC_KIND_GAUGE, name, description));
    if (!made.ok()) {
      family_ = nullptr;
      return;
    }
    const Error metric(TRITONSERVER_MetricNew(&metric_, family_, nullptr, 0));
    if (!metric.ok()) metric_ = nullptr;
  }
  ~Gauge() {
    if (metric_ != nullptr) const Error deleted(TRITONSERVER_MetricDelete(metric_));
    if (family_ != nullptr) const Error deleted(TRITONSERVER_MetricFamilyDelete(family_));
  }
  Gauge(const Gauge&) = delete;
  Gauge& operator=(const Gauge&) = delete;

  void Set(double value) {
    if (metric_ != nullptr) const Error set(TRITONSERVER_MetricSet(metric_, value));
  }
  void Add(double value) {
    if (metric_ != nullptr) const Error added(TRITONSERVER_MetricIncrement(metric_, value));
  }

 private:
  TRITONSERVER_MetricFamily* family_ = nullptr;
  TRITONSERVER_Metric* metric_ = nullptr;
};

CacheMetrics::CacheMetrics() {
  const auto make = [](std::unique_ptr<Gauge>& gauge, const char* name, const char* description) {
    gauge = std::make_unique<Gauge>(name, description);
  };
  make(utilization_, "nv_cache_util",
       "Share of the local response cache that is in use [0.0 - 1.0]");
  make(entries_, "nv_cache_num_entries", "Responses in the local response cache");
  make(lookups_, "nv_cache_num_lookups", "Look-ups in the local response cache");
  make(hits_, "nv_cache_num_hits", "Look-ups in the local response cache that found a response");
  make(misses_, "nv_cache_num_misses", "Look-ups in the local response cache that found nothing");
  make(evictions_, "nv_cache_num_evictions", "Responses that made room for others");
  make(lookup_duration_, "nv_cache_lookup_duration",
       "Time of all look-ups in the local response cache, in microseconds");
  make(insertion_duration_, "nv_cache_insertion_duration",
       "Time of all insertions into the local response cache, in microseconds");
}

CacheMetrics::~CacheMetrics() = default;

void CacheMetrics::Lookup(bool hit, uint64_t duration_ns) {
  lookups_->Add(1);
  (hit ? hits_ : misses_)->Add(1);
  lookup_duration_->Add(static_cast<double>(duration_ns) / 1000);
}

void CacheMetrics::Insertion(double utilization, uint64_t entries, uint64_t evictions,
                             uint64_t duration_ns) {
  utilization_->Set(utilization);
  entries_->Set(static_cast<double>(entries));
  evictions_->Set(static_cast<double>(evictions));
  insertion_duration_->Add(static_cast<double>(duration_ns) / 1000);
}

}  // namespace nereid::caches
