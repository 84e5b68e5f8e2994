// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"

namespace nereid::telemetry {

enum class MetricKind { kCounter, kGauge, kHistogram };

/// Returns "counter", "gauge" or "histogram".
std::string_view MetricKindName(MetricKind kind);

/// A number that only grows. May be used from any thread. The operations are relaxed: a reader sees
/// each addition once, in no particular order relative to other metrics.
class Counter {
 public:
  void Increment(uint64_t amount = 1) { whole_.fetch_add(amount, std::memory_order_relaxed); }

  /// Adds an amount that need not be whole. INVALID_ARG if it is negative or not a number.
  base::Status Add(double amount);

  double value() const {
    return static_cast<double>(whole()) + fraction_.load(std::memory_order_relaxed);
  }
  /// Returns the sum of the whole amounts. Exact beyond 2^53, where value() is not.
  uint64_t whole() const { return whole_.load(std::memory_order_relaxed); }
  bool is_whole() const { return fraction_.load(std::memory_order_relaxed) == 0; }

 private:
  std::atomic<uint64_t> whole_{0};
  std::atomic<double> fraction_{0};  // the sum of the amounts that are not whole, or are above 2^53
};

/// A number that goes up and down. May be used from any thread.
class Gauge {
 public:
  void Set(double value) { value_.store(value, std::memory_order_relaxed); }
  void Add(double amount) { value_.fetch_add(amount, std::memory_order_relaxed); }
  double value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> value_{0};
};

/// A traced request that was observed in a bucket of a histogram: a way from a graph to a trace.
struct Exemplar {
  std::string trace_id;  // hexadecimal digits
  double value = 0;
  uint64_t wall_ms = 0;  // since the Unix epoch

  bool empty() const { return trace_id.empty(); }
};

/// The content of a histogram at one moment.
struct HistogramSnapshot {
  std::vector<double> bounds;  // inclusive upper bounds, ascending, without +Inf
  // Observations of each bucket (not cumulative); one more than `bounds`.
  std::vector<uint64_t> counts;
  double sum = 0;
  // The latest exemplar of each bucket, as many as `counts`; empty if there has been none at all.
  std::vector<Exemplar> exemplars = {};

  uint64_t TotalCount() const;
};

/// Counts observations in buckets with upper bounds. May be used from any thread. A snapshot that
/// is taken during an observation may count it in a bucket but not in the sum, or the reverse.
class Histogram {
 public:
  /// `bounds` must be a result of CheckBounds.
  explicit Histogram(std::vector<double> bounds);

  /// Returns the bounds without a final +Inf (every histogram has that bucket). INVALID_ARG unless
  /// the bounds are numbers and ascend strictly.
  static base::Result<std::vector<double>> CheckBounds(std::vector<double> bounds);

  void Observe(double value) noexcept;
  /// Does the same for a request with a trace, which becomes the exemplar of its bucket.
  void Observe(Exemplar exemplar) noexcept;
  HistogramSnapshot Snapshot() const;

 private:
  size_t BucketOf(double value) const;

  const std::vector<double> bounds_;
  const std::unique_ptr<std::atomic<uint64_t>[]> counts_;  // bounds_.size() + 1
  std::atomic<double> sum_{0};
  mutable base::Mutex exemplars_mutex_;
  bool has_exemplars_ NEREID_GUARDED_BY(exemplars_mutex_) = false;
  std::vector<Exemplar> exemplars_ NEREID_GUARDED_BY(exemplars_mutex_);  // of each bucket
};

}  // namespace nereid::telemetry
