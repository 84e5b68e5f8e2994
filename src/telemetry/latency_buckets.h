// SPDX-License-Identifier: Apache-2.0
// Counts of latencies in buckets of fixed bounds. Unlike a LatencySummary they only grow, so the
// difference of two readings is the counts of the time between them, and they have a fixed size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace nereid::telemetry {

/// The number of buckets. The first 16 hold one microsecond each. Above, each power of two has
/// eight of the same width, so a quantile differs by at most 12.5 % from an observed latency. The
/// last bucket holds everything above 16.7 minutes.
inline constexpr size_t kLatencyBuckets = 224;

/// Returns the bucket of a latency in microseconds.
size_t LatencyBucketOf(uint64_t us);

/// Returns the smallest latency of a bucket, in microseconds. The bucket ends where the next one
/// begins.
uint64_t LatencyBucketStart(size_t bucket);

/// Returns the quantile (0 to 1) of the latencies in `counts`, in microseconds, interpolated within
/// its bucket; 0 if there are none. `counts` has kLatencyBuckets elements or is empty.
double LatencyQuantile(std::span<const uint64_t> counts, double quantile);

}  // namespace nereid::telemetry
