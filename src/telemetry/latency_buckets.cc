// SPDX-License-Identifier: Apache-2.0
#include "telemetry/latency_buckets.h"

#include <algorithm>
#include <bit>

namespace nereid::telemetry {
namespace {

constexpr unsigned kSubBits = 3;  // eight buckets for each power of two
constexpr uint64_t kSubBuckets = uint64_t{1} << kSubBits;

}  // namespace

size_t LatencyBucketOf(uint64_t us) {
  if (us < kSubBuckets) return us;
  const auto exponent = static_cast<unsigned>(std::bit_width(us)) - kSubBits - 1;
  const uint64_t bucket = kSubBuckets * (exponent + 1) + ((us >> exponent) - kSubBuckets);
  return std::min<uint64_t>(bucket, kLatencyBuckets - 1);
}

uint64_t LatencyBucketStart(size_t bucket) {
  if (bucket < kSubBuckets) return bucket;
  const size_t exponent = bucket / kSubBuckets - 1;
  return (kSubBuckets + bucket % kSubBuckets) << exponent;
}

double LatencyQuantile(std::span<const uint64_t> counts, double quantile) {
  uint64_t total = 0;
  for (const uint64_t count : counts) total += count;
  if (total == 0) return 0;
  const double rank = std::clamp(quantile, 0.0, 1.0) * static_cast<double>(total);
  double below = 0;
  for (size_t bucket = 0; bucket < counts.size(); ++bucket) {
    const auto count = static_cast<double>(counts[bucket]);
    if (count == 0) continue;
    if (below + count >= rank) {
      const auto start = static_cast<double>(LatencyBucketStart(bucket));
      const auto end = static_cast<double>(LatencyBucketStart(bucket + 1));
      return start + (end - start) * (rank - below) / count;
    }
    below += count;
  }
  return 0;  // not reached: the counts up to the last bucket are the total
}

}  // namespace nereid::telemetry
