// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace nereid::telemetry {

/// The content of a summary at one moment.
struct SummarySnapshot {
  uint64_t count = 0;  // number of all observations, not only the recent ones
  uint64_t sum = 0;
  /// Pairs of a quantile (0 to 1) and its value. The value is NaN if there was no observation in
  /// the last minute.
  std::vector<std::pair<double, double>> quantiles;
};

/// Keeps the count and the sum of whole numbers, and their quantiles over the last minute. A
/// quantile differs by at most 0.4 % from an observed number, and is exact below 256.
///
/// The minute is divided into steps of twelve seconds. Each step counts observations in buckets
/// whose width is 1/128 of the power of two below them. Only powers of two that occur take memory
/// (0.5 KiB each). An observation takes a few instructions, and two summaries can be added. Not
/// thread-safe.
class LatencySummary {
 public:
  /// `now_ns` is the time of a monotonic clock. If memory runs out, the observation is missing from
  /// the quantiles.
  void Observe(uint64_t value, uint64_t now_ns) noexcept;
  void Merge(const LatencySummary& other);
  SummarySnapshot Snapshot(const std::vector<double>& quantiles, uint64_t now_ns) const;

 private:
  static constexpr size_t kSteps = 5;
  static constexpr size_t kBuckets = 128;
  struct Octave {
    uint32_t index;  // 0 for the numbers below 128, else 1 + the exponent of the bucket width
    std::array<uint32_t, kBuckets> counts;
  };
  struct Step {
    uint64_t number = 0;  // time of the step divided by its length
    std::vector<Octave> octaves;

    Octave& FindOrAdd(uint32_t index);
  };
  /// Returns the slot for step `number`, cleared if it held an older step. Returns nullptr if the
  /// slot already holds a newer one.
  Step* Begin(uint64_t number);

  uint64_t count_ = 0;
  uint64_t sum_ = 0;
  std::array<Step, kSteps> steps_;  // step n is in slot n % kSteps
};

/// Latencies of one model version in microseconds, one observation for each successful request.
/// Source of the nv_inference_*_summary_us metrics.
struct LatencySummaries {
  LatencySummary request, queue, compute_input, compute_infer, compute_output, cache_hit,
      cache_miss;

  void Merge(const LatencySummaries& other);
};

}  // namespace nereid::telemetry
