// SPDX-License-Identifier: Apache-2.0
#include "telemetry/latency_buckets.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

namespace nereid::telemetry {
namespace {

TEST(LatencyBuckets, AreAscendingWithoutGaps) {
  for (size_t bucket = 0; bucket + 1 < kLatencyBuckets; ++bucket) {
    const uint64_t start = LatencyBucketStart(bucket), end = LatencyBucketStart(bucket + 1);
    ASSERT_LT(start, end) << bucket;
    EXPECT_EQ(LatencyBucketOf(start), bucket);
    EXPECT_EQ(LatencyBucketOf(end - 1), bucket);
    EXPECT_EQ(LatencyBucketOf(end), bucket + 1);
    // The promised error.
    EXPECT_LE(static_cast<double>(end - start), 1.0 + static_cast<double>(start) / 8) << bucket;
  }
  EXPECT_EQ(LatencyBucketOf(15), 15U);
  EXPECT_EQ(LatencyBucketOf(uint64_t{16} * 60 * 1'000'000), kLatencyBuckets - 2);
  EXPECT_EQ(LatencyBucketOf(std::numeric_limits<uint64_t>::max()), kLatencyBuckets - 1);
}

TEST(LatencyBuckets, QuantilesAreNearTheObservedLatencies) {
  std::vector<uint64_t> counts(kLatencyBuckets);
  for (uint64_t us = 1; us <= 1000; ++us) ++counts[LatencyBucketOf(us)];
  EXPECT_NEAR(LatencyQuantile(counts, 0.5), 500, 63);
  EXPECT_NEAR(LatencyQuantile(counts, 0.99), 990, 124);
  EXPECT_LE(LatencyQuantile(counts, 0.5), LatencyQuantile(counts, 0.9));
  EXPECT_GE(LatencyQuantile(counts, 1), 1000);
  EXPECT_EQ(LatencyQuantile(counts, 7), LatencyQuantile(counts, 1));
}

TEST(LatencyBuckets, NothingObservedIsZero) {
  EXPECT_EQ(LatencyQuantile({}, 0.5), 0);
  EXPECT_EQ(LatencyQuantile(std::vector<uint64_t>(kLatencyBuckets), 0.5), 0);
}

}  // namespace
}  // namespace nereid::telemetry
