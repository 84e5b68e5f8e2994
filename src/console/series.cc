// SPDX-License-Identifier: Apache-2.0
#include "console/series.h"

#include <algorithm>

#include "telemetry/latency_buckets.h"

namespace nereid::console {
namespace {

constexpr uint64_t kSecondNs = 1'000'000'000;
constexpr uint64_t kHourNs = 3600 * kSecondNs;
/// A step of ten seconds ends at the first reading after this time, so that readings that come a
/// little early do not make it eleven.
constexpr uint64_t kTenSecondsNs = 9'500'000'000;

bool WasReset(const Totals& before, const Totals& after) {
  return after.requests < before.requests || after.failures < before.failures ||
         after.inferences < before.inferences || after.executions < before.executions ||
         after.queue_ns < before.queue_ns || after.compute_ns < before.compute_ns;
}

std::vector<uint64_t> CountsBetween(const Totals& before, const Totals& after) {
  std::vector<uint64_t> counts = after.latency_counts;
  const size_t shared = std::min(counts.size(), before.latency_counts.size());
  for (size_t i = 0; i < shared; ++i) {
    counts[i] -= std::min(counts[i], before.latency_counts[i]);
  }
  return counts;
}

float Mean(uint64_t ns, uint64_t count) {
  return count == 0 ? 0 : static_cast<float>(static_cast<double>(ns) / 1e3 / double(count));
}

}  // namespace

Totals Totals::Of(const telemetry::ModelStatistics& statistics, uint64_t time_ns) {
  const telemetry::InferStatistics& infer = statistics.inference_stats;
  return {.time_ns = time_ns,
          .requests = infer.success.count,
          .failures = infer.fail.count,
          .inferences = statistics.inference_count,
          .executions = statistics.execution_count,
          .queue_ns = infer.queue.ns,
          .compute_ns = infer.compute_input.ns + infer.compute_infer.ns + infer.compute_output.ns,
          .latency_counts = statistics.latency_counts};
}

Point Between(const Totals& before, const Totals& after, uint64_t time_ms, uint64_t pending) {
  if (WasReset(before, after)) {
    return Between({.time_ns = before.time_ns}, after, time_ms, pending);
  }
  Point point{.time_ms = time_ms};
  point.pending = static_cast<float>(pending);
  if (after.time_ns <= before.time_ns) return point;
  const double seconds = static_cast<double>(after.time_ns - before.time_ns) / 1e9;
  const auto rate = [seconds](uint64_t from, uint64_t to) {
    return static_cast<float>(static_cast<double>(to - from) / seconds);
  };
  point.requests = rate(before.requests, after.requests);
  point.failures = rate(before.failures, after.failures);
  point.inferences = rate(before.inferences, after.inferences);
  point.executions = rate(before.executions, after.executions);
  const std::vector<uint64_t> counts = CountsBetween(before, after);
  point.p50_us = static_cast<float>(telemetry::LatencyQuantile(counts, 0.5));
  point.p90_us = static_cast<float>(telemetry::LatencyQuantile(counts, 0.9));
  point.p99_us = static_cast<float>(telemetry::LatencyQuantile(counts, 0.99));
  const uint64_t requests = after.requests - before.requests;
  point.queue_us = Mean(after.queue_ns - before.queue_ns, requests);
  point.compute_us = Mean(after.compute_ns - before.compute_ns, requests);
  return point;
}

void SeriesStore::DropOld(uint64_t now_ns) {
  std::erase_if(series_, [&](const auto& entry) {
    return now_ns > entry.second->seen_ns && now_ns - entry.second->seen_ns > kHourNs;
  });
}

SeriesStore::Kept* SeriesStore::FindOrAdd(const Key& key, uint64_t now_ns) {
  if (const auto found = series_.find(key); found != series_.end()) return found->second.get();
  if (series_.size() >= kMaxSeries) {
    // The place of the model that was unloaded first.
    const auto oldest = std::min_element(
        series_.begin(), series_.end(),
        [](const auto& a, const auto& b) { return a.second->seen_ns < b.second->seen_ns; });
    if (oldest->second->seen_ns >= last_ns_) return nullptr;
    series_.erase(oldest);
  }
  auto kept = std::make_unique<Kept>();
  kept->seen_ns = now_ns;
  return series_.emplace(key, std::move(kept)).first->second.get();
}

void SeriesStore::Add(const std::vector<telemetry::ModelStatistics>& statistics, uint64_t now_ns,
                      uint64_t time_ms) {
  const base::MutexLock lock(mutex_);
  DropOld(now_ns);
  omitted_ = 0;
  for (const telemetry::ModelStatistics& model : statistics) {
    Kept* const kept = FindOrAdd({model.name, model.version}, now_ns);
    if (kept == nullptr) {
      ++omitted_;
      continue;
    }
    kept->seen_ns = now_ns;
    Totals totals = Totals::Of(model, now_ns);
    if (kept->last.time_ns == 0) {
      kept->last = kept->last_of_ten = std::move(totals);
      continue;
    }
    kept->seconds.Add(Between(kept->last, totals, time_ms, model.pending_requests));
    if (now_ns - kept->last_of_ten.time_ns >= kTenSecondsNs) {
      kept->ten_seconds.Add(Between(kept->last_of_ten, totals, time_ms, model.pending_requests));
      kept->last_of_ten = totals;
    }
    kept->last = std::move(totals);
  }
  last_ns_ = now_ns;
}

std::vector<SeriesStore::Newest> SeriesStore::NewestPoints() const {
  const base::MutexLock lock(mutex_);
  std::vector<Newest> newest;
  for (const auto& [key, kept] : series_) {
    if (kept->seen_ns != last_ns_ || kept->seconds.empty()) continue;
    newest.push_back({key.first, key.second, kept->seconds.newest()});
  }
  return newest;
}

std::vector<SeriesStore::Series> SeriesStore::All() const {
  const base::MutexLock lock(mutex_);
  std::vector<Series> all;
  for (const auto& [key, kept] : series_) {
    all.push_back(
        {key.first, key.second, kept->seen_ns == last_ns_, kept->seconds.List(kRecent), {}});
  }
  return all;
}

std::vector<SeriesStore::Series> SeriesStore::Of(const std::string& model) const {
  const base::MutexLock lock(mutex_);
  std::vector<Series> versions;
  for (auto at = series_.lower_bound({model, ""}); at != series_.end(); ++at) {
    if (at->first.first != model) break;
    const Kept& kept = *at->second;
    versions.push_back({at->first.first, at->first.second, kept.seen_ns == last_ns_,
                        kept.seconds.List(), kept.ten_seconds.List()});
  }
  return versions;
}

size_t SeriesStore::omitted() const {
  const base::MutexLock lock(mutex_);
  return omitted_;
}

}  // namespace nereid::console
