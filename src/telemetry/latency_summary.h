// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace nereid::telemetry {

/// A summary as it stood at one moment.
struct SummarySnapshot {
  uint64_t count = 0;  // of all observations ever
  uint64_t sum = 0;
  /// Each quantile (0 to 1) with its value; not a number where nothing was observed of late.
  std::vector<std::pair<double, double>> quantiles;
};

/// Whole numbers, of which it keeps count and sum, and the quantiles of the last minute. A quantile
/// is at most 0.4 % away from a number that was observed, and exact below 256.
///
/// The minute moves on in steps of twelve seconds. Each step counts in buckets that are 1/128 of
/// their power of two wide; only powers of two that occur take memory (0.5 KiB each). Adding is a
/// few instructions; two summaries can be added up. Not thread-safe.
class LatencySummary {
 public:
  /// `now_ns` is monotonic.
  void Observe(uint64_t value, uint64_t now_ns) noexcept;
  void Merge(const LatencySummary& other);
  SummarySnapshot Snapshot(const std::vector<double>& quantiles, uint64_t now_ns) const;

 private:
  static constexpr size_t kSteps = 5;
  static constexpr size_t kBuckets = 128;
  struct Octave {
    uint32_t index;  // 0: the numbers below 128 themselves
    std::array<uint32_t, kBuckets> counts;
  };
  struct Step {
    uint64_t number = 0;  // since the clock's beginning
    std::vector<Octave> octaves;

    Octave& FindOrAdd(uint32_t index);
  };
  /// The one with that number, empty if it has just begun; null if it is over.
  Step* Begin(uint64_t number);

  uint64_t count_ = 0;
  uint64_t sum_ = 0;
  std::array<Step, kSteps> steps_;  // number n at n % kSteps
};

/// Microseconds of one model version: of each request that ended well, as
/// nv_inference_*_summary_us have them.
struct LatencySummaries {
  LatencySummary request, queue, compute_input, compute_infer, compute_output, cache_hit,
      cache_miss;

  void Merge(const LatencySummaries& other);
};

}  // namespace nereid::telemetry
