// SPDX-License-Identifier: Apache-2.0
#include "telemetry/latency_summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

#include "telemetry/metric_writer.h"

namespace nereid::telemetry {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

constexpr uint64_t kSecond = 1'000'000'000;

double Quantile(const LatencySummary& summary, double quantile, uint64_t now_ns = 0) {
  return summary.Snapshot({quantile}, now_ns).quantiles[0].second;
}

TEST(LatencySummaryTest, SmallNumbersAreExact) {
  LatencySummary summary;
  for (uint64_t i = 1; i <= 200; ++i) summary.Observe(i, 0);
  const SummarySnapshot snapshot = summary.Snapshot({0, 0.5, 0.9, 0.995, 1}, 0);
  EXPECT_EQ(snapshot.count, 200u);
  EXPECT_EQ(snapshot.sum, 20'100u);
  EXPECT_THAT(snapshot.quantiles, ElementsAre(Pair(0, 1), Pair(0.5, 100), Pair(0.9, 180),
                                              Pair(0.995, 199), Pair(1, 200)));
}

TEST(LatencySummaryTest, LargeNumbersAreNear) {
  for (uint64_t value = 1; value != 0 && value < UINT64_MAX / 3; value = value * 3 + 1) {
    LatencySummary summary;
    summary.Observe(value, 0);
    EXPECT_NEAR(Quantile(summary, 0.5), static_cast<double>(value),
                static_cast<double>(value) * 0.004);
  }
  LatencySummary summary;
  summary.Observe(UINT64_MAX, 0);
  EXPECT_NEAR(Quantile(summary, 1), 0x1p64, 0x1p64 * 0.004);
}

TEST(LatencySummaryTest, ForgetsAfterAMinuteButNotCountAndSum) {
  LatencySummary summary;
  EXPECT_TRUE(std::isnan(Quantile(summary, 0.5)));
  summary.Observe(10, 100 * kSecond);
  summary.Observe(20, 130 * kSecond);
  EXPECT_EQ(Quantile(summary, 0, 130 * kSecond), 10);
  EXPECT_EQ(Quantile(summary, 0, 160 * kSecond), 20);
  EXPECT_TRUE(std::isnan(Quantile(summary, 0, 200 * kSecond)));
  EXPECT_EQ(summary.Snapshot({}, 200 * kSecond).count, 2u);
  EXPECT_EQ(summary.Snapshot({}, 200 * kSecond).sum, 30u);
  summary.Observe(30, 200 * kSecond);
  summary.Observe(40, 100 * kSecond);  // late: counted, but not part of the last minute
  EXPECT_EQ(Quantile(summary, 1, 200 * kSecond), 30);
}

TEST(LatencySummaryTest, Merges) {
  LatencySummary a;
  LatencySummary b;
  for (uint64_t i = 0; i < 50; ++i) a.Observe(i * 1000, 100 * kSecond);
  for (uint64_t i = 50; i < 100; ++i) b.Observe(i * 1000, 115 * kSecond);
  b.Observe(7, kSecond);
  a.Merge(b);
  const SummarySnapshot both = a.Snapshot({0.5}, 115 * kSecond);
  EXPECT_EQ(both.count, 101u);
  EXPECT_NEAR(both.quantiles[0].second, 49'000, 200);
}

TEST(LatencySummaryTest, IsWrittenInPrometheusFormat) {
  MetricWriter writer;
  writer.Summaries("latency_us", "How long")
      .Sample(Labels({{"model", "m"}}), SummarySnapshot{3, 60, {{0.5, 20}, {0.999, NAN}}});
  EXPECT_EQ(writer.Text(),
            "# HELP latency_us How long\n"
            "# TYPE latency_us summary\n"
            "latency_us_count{model=\"m\"} 3\n"
            "latency_us_sum{model=\"m\"} 60\n"
            "latency_us{model=\"m\",quantile=\"0.5\"} 20\n"
            "latency_us{model=\"m\",quantile=\"0.999\"} NaN\n");
}

}  // namespace
}  // namespace nereid::telemetry
