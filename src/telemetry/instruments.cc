// SPDX-License-Identifier: Apache-2.0
#include "telemetry/instruments.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

namespace nereid::telemetry {

std::string_view MetricKindName(MetricKind kind) {
  switch (kind) {
    case MetricKind::kCounter:
      return "counter";
    case MetricKind::kGauge:
      return "gauge";
    case MetricKind::kHistogram:
      return "histogram";
  }
  return "untyped";
}

base::Status Counter::Add(double amount) {
  if (!(amount >= 0)) {
    return base::Status::InvalidArgument("a counter can only grow: cannot add " +
                                         std::to_string(amount));
  }
  // Up to 2^53 every whole double is an exact integer, so the conversion loses nothing.
  constexpr double kMaxWhole = 9007199254740992.0;
  if (amount <= kMaxWhole && amount == std::floor(amount)) {
    Increment(static_cast<uint64_t>(amount));
  } else {
    fraction_.fetch_add(amount, std::memory_order_relaxed);
  }
  return {};
}

uint64_t HistogramSnapshot::TotalCount() const {
  return std::accumulate(counts.begin(), counts.end(), uint64_t{0});
}

Histogram::Histogram(std::vector<double> bounds)
    : bounds_(std::move(bounds)),
      counts_(std::make_unique<std::atomic<uint64_t>[]>(bounds_.size() + 1)),
      exemplars_(bounds_.size() + 1) {}

base::Result<std::vector<double>> Histogram::CheckBounds(std::vector<double> bounds) {
  for (size_t i = 0; i < bounds.size(); ++i) {
    if (std::isnan(bounds[i]) || (i > 0 && !(bounds[i - 1] < bounds[i]))) {
      return base::Status::InvalidArgument("histogram buckets must ascend strictly: bucket " +
                                           std::to_string(i) + " is " + std::to_string(bounds[i]));
    }
  }
  if (!bounds.empty() && std::isinf(bounds.back()) && bounds.back() > 0) bounds.pop_back();
  return bounds;
}

size_t Histogram::BucketOf(double value) const {
  // NaN compares false with every bound. It is counted in the last bucket.
  const auto bound =
      std::isnan(value) ? bounds_.end() : std::lower_bound(bounds_.begin(), bounds_.end(), value);
  return static_cast<size_t>(bound - bounds_.begin());
}

void Histogram::Observe(double value) noexcept {
  counts_[BucketOf(value)].fetch_add(1, std::memory_order_relaxed);
  sum_.fetch_add(value, std::memory_order_relaxed);
}

void Histogram::Observe(Exemplar exemplar) noexcept {
  Observe(exemplar.value);
  const base::MutexLock lock(exemplars_mutex_);
  has_exemplars_ = true;
  exemplars_[BucketOf(exemplar.value)] = std::move(exemplar);
}

HistogramSnapshot Histogram::Snapshot() const {
  HistogramSnapshot snapshot{bounds_, {}, sum_.load(std::memory_order_relaxed)};
  snapshot.counts.reserve(bounds_.size() + 1);
  for (size_t i = 0; i <= bounds_.size(); ++i) {
    snapshot.counts.push_back(counts_[i].load(std::memory_order_relaxed));
  }
  const base::MutexLock lock(exemplars_mutex_);
  if (has_exemplars_) snapshot.exemplars = exemplars_;
  return snapshot;
}

}  // namespace nereid::telemetry
