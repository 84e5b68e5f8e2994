// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace nereid::telemetry {

enum class MetricKind { kCounter, kGauge, kHistogram };

/// "counter", "gauge", "histogram".
std::string_view MetricKindName(MetricKind kind);

/// A number that only grows. Any thread; relaxed atomics: a reader sees each addition once, in no
/// promised order against other metrics.
class Counter {
 public:
  void Increment(uint64_t amount = 1) { whole_.fetch_add(amount, std::memory_order_relaxed); }

  /// For amounts that need not be whole. INVALID_ARGUMENT if negative or not a number.
  base::Status Add(double amount);

  double value() const {
    return static_cast<double>(whole()) + fraction_.load(std::memory_order_relaxed);
  }
  /// The part counted in whole steps, exact beyond 2^53 where value() is not.
  uint64_t whole() const { return whole_.load(std::memory_order_relaxed); }
  bool is_whole() const { return fraction_.load(std::memory_order_relaxed) == 0; }

 private:
  std::atomic<uint64_t> whole_{0};
  std::atomic<double> fraction_{0};  // what was added in amounts that are not whole
};

/// A number that goes up and down. Any thread.
class Gauge {
 public:
  void Set(double value) { value_.store(value, std::memory_order_relaxed); }
  void Add(double amount) { value_.fetch_add(amount, std::memory_order_relaxed); }
  double value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> value_{0};
};

/// A histogram as it stood at one moment.
struct HistogramSnapshot {
  std::vector<double> bounds;    // upper bounds, inclusive, ascending, without +Inf
  std::vector<uint64_t> counts;  // samples of each bucket alone; one longer than `bounds`
  double sum = 0;

  uint64_t TotalCount() const;
};

/// Samples sorted into buckets by upper bounds. Any thread; a snapshot taken while others observe
/// may have a sample in a bucket that is not yet in the sum.
class Histogram {
 public:
  /// `bounds` as CheckBounds gives them back.
  explicit Histogram(std::vector<double> bounds);

  /// The bounds without a final +Inf (which every histogram has); INVALID_ARGUMENT unless they
  /// ascend strictly and are numbers.
  static base::Result<std::vector<double>> CheckBounds(std::vector<double> bounds);

  void Observe(double value);
  HistogramSnapshot Snapshot() const;

 private:
  const std::vector<double> bounds_;
  const std::unique_ptr<std::atomic<uint64_t>[]> counts_;  // bounds_.size() + 1
  std::atomic<double> sum_{0};
};

}  // namespace nereid::telemetry
