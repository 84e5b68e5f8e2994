// SPDX-License-Identifier: Apache-2.0
// Latencies in buckets whose width is at most 1/64 of their value.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace nereid::load {

class Histogram {
 public:
  void Add(uint64_t nanoseconds) {
    ++buckets_[BucketOf(nanoseconds)];
    ++count_;
    sum_ += nanoseconds;
  }

  /// Adds the observations of another histogram.
  void Add(const Histogram& other) {
    for (size_t i = 0; i < buckets_.size(); ++i) buckets_[i] += other.buckets_[i];
    count_ += other.count_;
    sum_ += other.sum_;
  }

  uint64_t count() const { return count_; }
  /// Returns the mean in nanoseconds; 0 without observations.
  double Mean() const {
    return count_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(count_);
  }

  /// Returns the latency that `fraction` (0 to 1) of the requests did not exceed, in nanoseconds,
  /// as the upper end of its bucket. Returns 0 without observations.
  uint64_t Quantile(double fraction) const {
    const auto wanted = static_cast<uint64_t>(fraction * static_cast<double>(count_));
    uint64_t seen = 0;
    for (size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
      seen += buckets_[bucket];
      if (seen > wanted || (seen == count_ && seen > 0)) return UpperEnd(bucket);
    }
    return 0;
  }

 private:
  static constexpr int kBits = 6;
  static constexpr uint64_t kSteps = 1 << kBits;

  // Below kSteps a bucket has one nanosecond; above, each power of two is divided into kSteps
  // buckets.
  static size_t BucketOf(uint64_t value) {
    if (value < kSteps) return value;
    const int shift = std::bit_width(value) - 1 - kBits;
    return static_cast<size_t>(shift) * kSteps + (value >> shift);
  }
  static uint64_t UpperEnd(size_t bucket) {
    if (bucket < kSteps) return bucket;
    const uint64_t shift = bucket / kSteps - 1;
    return (bucket - shift * kSteps + 1) << shift;
  }

  std::array<uint64_t, (64 - kBits + 1) * kSteps> buckets_{};
  uint64_t count_ = 0;
  uint64_t sum_ = 0;
};

}  // namespace nereid::load
