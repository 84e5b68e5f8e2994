// SPDX-License-Identifier: Apache-2.0
#include "model/statistics_shard.h"

#include <gtest/gtest.h>

#include "telemetry/latency_buckets.h"

namespace nereid::model {
namespace {

constexpr uint64_t kMicrosecondNs = 1000;

telemetry::ModelStatistics Total(const StatisticsShard& shard) {
  telemetry::ModelStatistics total;
  shard.MergeInto(&total);
  return total;
}

TEST(StatisticsShard, CountsLatenciesOnDemand) {
  base::FakeClock clock(uint64_t{1000} * kMicrosecondNs);
  StatisticsShard counting(clock, {.counts = true}), plain(clock);
  request::InferenceRequest request;
  request.times.start_ns = clock.NowNs() - 100 * kMicrosecondNs;
  for (StatisticsShard* const shard : {&counting, &plain}) {
    shard->AddRequest(request, /*success=*/true, {});
    shard->AddRequest(request, /*success=*/false, {});  // failures have no latency
    shard->AddCacheHit(request, 0, 0);
  }
  EXPECT_TRUE(Total(plain).latency_counts.empty());
  const telemetry::ModelStatistics total = Total(counting);
  ASSERT_EQ(total.latency_counts.size(), telemetry::kLatencyBuckets);
  EXPECT_EQ(total.latency_counts[telemetry::LatencyBucketOf(100)], 2U);
  EXPECT_EQ(total.inference_stats.success.count, 2U);
}

TEST(StatisticsShard, SumsOfShardsHaveAllLatencies) {
  base::FakeClock clock(uint64_t{1000} * kMicrosecondNs);
  StatisticsShard one(clock, {.counts = true}), without(clock), two(clock, {.counts = true});
  request::InferenceRequest request;
  request.times.start_ns = clock.NowNs() - 7 * kMicrosecondNs;
  one.AddRequest(request, true, {});
  two.AddRequest(request, true, {});
  telemetry::ModelStatistics total;
  for (const StatisticsShard* const shard : {&one, &without, &two}) shard->MergeInto(&total);
  EXPECT_EQ(total.latency_counts[7], 2U);
}

TEST(StatisticsShard, AReportOfMemoryReplacesTheOneBefore) {
  const base::FakeClock clock;
  StatisticsShard shard(clock);
  const auto usage = [](memory::MemoryType type, size_t bytes) {
    memory::BufferAttributes one;
    one.memory_type = type;
    one.byte_size = bytes;
    return one;
  };
  using memory::MemoryType;
  shard.SetMemoryUsage({usage(MemoryType::kCpu, 100), usage(MemoryType::kGpu, 300)});
  shard.SetMemoryUsage({usage(MemoryType::kCpu, 200)});
  ASSERT_EQ(Total(shard).memory_usage.size(), 1U);
  EXPECT_EQ(Total(shard).memory_usage[0].byte_size, 200U);
  shard.SetMemoryUsage({});
  EXPECT_TRUE(Total(shard).memory_usage.empty());
}

}  // namespace
}  // namespace nereid::model
