// SPDX-License-Identifier: Apache-2.0
#include "console/series.h"

#include <gtest/gtest.h>

#include "telemetry/latency_buckets.h"

namespace nereid::console {
namespace {

constexpr uint64_t kStepNs = 1'000'000'000;

telemetry::ModelStatistics Reading(const std::string& name, uint64_t requests,
                                   uint64_t latency_us = 100) {
  telemetry::ModelStatistics statistics;
  statistics.name = name;
  statistics.version = "1";
  statistics.inference_stats.success = {requests, requests * latency_us * 1000};
  statistics.inference_stats.queue = {requests, requests * 10'000};
  statistics.inference_stats.compute_infer = {requests, requests * 40'000};
  statistics.inference_count = requests * 2;
  statistics.execution_count = requests / 2;
  statistics.latency_counts.resize(telemetry::kLatencyBuckets);
  statistics.latency_counts[telemetry::LatencyBucketOf(latency_us)] = requests;
  return statistics;
}

TEST(Series, APointIsWhatHappenedBetweenTwoReadings) {
  const Totals before = Totals::Of(Reading("m", 100), 5 * kStepNs);
  const Totals after = Totals::Of(Reading("m", 300), 7 * kStepNs);
  const Point point = Between(before, after, 1234, 3);
  EXPECT_EQ(point.time_ms, 1234U);
  EXPECT_FLOAT_EQ(point.requests, 100);
  EXPECT_FLOAT_EQ(point.inferences, 200);
  EXPECT_FLOAT_EQ(point.executions, 50);
  EXPECT_FLOAT_EQ(point.failures, 0);
  EXPECT_NEAR(point.p50_us, 100, 12.5);
  EXPECT_NEAR(point.p99_us, 100, 12.5);
  EXPECT_FLOAT_EQ(point.queue_us, 10);
  EXPECT_FLOAT_EQ(point.compute_us, 40);
  EXPECT_FLOAT_EQ(point.pending, 3);
}

TEST(Series, AModelThatWasLoadedAgainCountsFromZero) {
  const Totals before = Totals::Of(Reading("m", 100), 5 * kStepNs);
  const Totals after = Totals::Of(Reading("m", 30), 6 * kStepNs);
  EXPECT_FLOAT_EQ(Between(before, after, 0, 0).requests, 30);
}

TEST(Series, NoTimeAndNoRequestsGiveZeros) {
  const Totals reading = Totals::Of(Reading("m", 100), 5 * kStepNs);
  const Point point = Between(reading, reading, 0, 0);
  EXPECT_FLOAT_EQ(point.requests, 0);
  EXPECT_FLOAT_EQ(point.p99_us, 0);
  EXPECT_FLOAT_EQ(point.queue_us, 0);
}

TEST(Series, KeepsTwoMinutesOfSecondsAndAnHourOfTens) {
  SeriesStore store;
  constexpr uint64_t kTime = 5000;
  for (uint64_t second = 1; second <= kTime; ++second) {
    store.Add({Reading("m", second * 7)}, second * kStepNs, second * 1000);
  }
  const auto series = store.Of("m");
  ASSERT_EQ(series.size(), 1U);
  ASSERT_EQ(series[0].seconds.size(), SeriesStore::kSeconds);
  ASSERT_EQ(series[0].ten_seconds.size(), SeriesStore::kTenSeconds);
  EXPECT_EQ(series[0].seconds.back().time_ms, kTime * 1000);
  EXPECT_EQ(series[0].seconds.front().time_ms, (kTime - SeriesStore::kSeconds + 1) * 1000);
  const auto& tens = series[0].ten_seconds;
  EXPECT_EQ(tens[1].time_ms - tens[0].time_ms, 10'000U);
  EXPECT_FLOAT_EQ(tens[0].requests, 7);
  EXPECT_EQ(store.All().front().seconds.size(), SeriesStore::kRecent);
  EXPECT_EQ(store.NewestPoints().front().point.time_ms, kTime * 1000);
  EXPECT_TRUE(store.Of("other").empty());
}

TEST(Series, UnloadedModelsStayForAnHour) {
  SeriesStore store;
  store.Add({Reading("gone", 1)}, kStepNs, 0);
  store.Add({Reading("m", 1)}, 2 * kStepNs, 0);
  ASSERT_EQ(store.Of("gone").size(), 1U);
  EXPECT_FALSE(store.Of("gone")[0].is_loaded);
  EXPECT_TRUE(store.Of("m")[0].is_loaded);
  EXPECT_TRUE(store.NewestPoints().empty());  // a first reading is no point
  store.Add({Reading("m", 1)}, 1800 * kStepNs, 0);
  store.Add({Reading("m", 1)}, 3602 * kStepNs, 0);
  EXPECT_TRUE(store.Of("gone").empty());
  EXPECT_EQ(store.NewestPoints().size(), 1U);
}

TEST(Series, TheNumberOfSeriesIsBounded) {
  SeriesStore store;
  std::vector<telemetry::ModelStatistics> many;
  for (size_t i = 0; i < SeriesStore::kMaxSeries + 5; ++i) {
    many.push_back(Reading("m" + std::to_string(i), 1));
  }
  store.Add({Reading("gone", 1)}, kStepNs, 0);
  store.Add(many, 2 * kStepNs, 0);
  store.Add(many, 3 * kStepNs, 0);
  EXPECT_EQ(store.All().size(), SeriesStore::kMaxSeries);
  EXPECT_TRUE(store.Of("gone").empty());
  EXPECT_EQ(store.omitted(), 5U);
}

}  // namespace
}  // namespace nereid::console
