// SPDX-License-Identifier: Apache-2.0
#include "telemetry/custom_metrics.h"

#include <gtest/gtest.h>

namespace nereid::telemetry {
namespace {

using base::StatusCode;

TEST(CustomMetricsTest, SameNameAndKindIsTheSameFamilyAndKeepsItsFirstHelp) {
  Registry registry;
  auto first =
      std::move(CustomMetricFamily::Create(registry, MetricKind::kCounter, "n", "one")).value();
  auto second =
      std::move(CustomMetricFamily::Create(registry, MetricKind::kCounter, "n", "two")).value();
  EXPECT_EQ(CustomMetricFamily::Create(registry, MetricKind::kGauge, "n", "one").status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(
      CustomMetricFamily::Create(registry, static_cast<MetricKind>(9), "m", "").status().code(),
      StatusCode::kInvalidArgument);

  auto a = std::move(first->NewMetric({{"x", "1"}})).value();
  auto b = std::move(second->NewMetric({{"x", "1"}})).value();
  EXPECT_TRUE(a->Increment(2.5).ok());
  EXPECT_EQ(*b->Value(), 2.5);
  EXPECT_EQ(registry.Render(), "# HELP n one\n# TYPE n counter\nn{x=\"1\"} 2.5\n");
}

TEST(CustomMetricsTest, AFamilyWithLiveMetricsMayNotBeDeleted) {
  Registry registry;
  auto family =
      std::move(CustomMetricFamily::Create(registry, MetricKind::kGauge, "g", "")).value();
  auto other = std::move(CustomMetricFamily::Create(registry, MetricKind::kGauge, "g", "")).value();
  auto metric = std::move(family->NewMetric({})).value();
  EXPECT_EQ(family->CheckDeletable().code(), StatusCode::kInternal);
  EXPECT_TRUE(other->CheckDeletable().ok());  // counted by handle
  metric.reset();
  EXPECT_TRUE(family->CheckDeletable().ok());
}

TEST(CustomMetricsTest, KindsRefuseUnsupportedOperations) {
  Registry registry;
  const auto make = [&](MetricKind kind, const char* name,
                        std::optional<std::vector<double>> bounds) {
    auto family = std::move(CustomMetricFamily::Create(registry, kind, name, "")).value();
    return std::move(family->NewMetric({}, std::move(bounds))).value();
  };
  auto counter = make(MetricKind::kCounter, "c", std::nullopt);
  EXPECT_EQ(counter->Increment(-1).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(counter->Set(1).code(), StatusCode::kUnsupported);
  EXPECT_EQ(counter->Observe(1).code(), StatusCode::kUnsupported);
  EXPECT_EQ(*counter->Value(), 0);

  auto gauge = make(MetricKind::kGauge, "g", std::nullopt);
  EXPECT_TRUE(gauge->Set(5).ok());
  EXPECT_TRUE(gauge->Increment(-7).ok());
  EXPECT_EQ(*gauge->Value(), -2);
  EXPECT_EQ(gauge->Observe(1).code(), StatusCode::kUnsupported);

  auto histogram = make(MetricKind::kHistogram, "h", std::vector<double>{1, 2});
  EXPECT_TRUE(histogram->Observe(1.5).ok());
  EXPECT_EQ(histogram->Value().status().code(), StatusCode::kUnsupported);
  EXPECT_EQ(histogram->Increment(1).code(), StatusCode::kUnsupported);
  EXPECT_EQ(histogram->Set(1).code(), StatusCode::kUnsupported);
  EXPECT_EQ(histogram->kind(), MetricKind::kHistogram);
}

TEST(CustomMetricsTest, HistogramsNeedAscendingBucketsAndOthersTakeNone) {
  Registry registry;
  auto family =
      std::move(CustomMetricFamily::Create(registry, MetricKind::kHistogram, "h", "")).value();
  EXPECT_EQ(family->NewMetric({}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(family->NewMetric({}, std::vector<double>{2, 1}).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(family->NewMetric({{"a-b", ""}}, std::vector<double>{1}).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_TRUE(family->CheckDeletable().ok());  // failed creations do not count
  auto counters =
      std::move(CustomMetricFamily::Create(registry, MetricKind::kCounter, "c", "")).value();
  EXPECT_EQ(counters->NewMetric({}, std::vector<double>{1}).status().code(),
            StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace nereid::telemetry
