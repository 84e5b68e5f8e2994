// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "abi/error.h"
#include "abi/process_metrics_registry.h"

namespace nereid::abi {
namespace {

#define EXPECT_SUCCESS(call) EXPECT_EQ(TakeStatus(call).ToString(), "OK")
#define EXPECT_CODE(call, expected) EXPECT_EQ(TakeStatus(call).code(), base::StatusCode::expected)

std::string Page() { return ProcessRegistry()->Render(); }

TEST(CustomMetricsTest, CounterOfOneFamily) {
  TRITONSERVER_MetricFamily* family = nullptr;
  EXPECT_SUCCESS(TRITONSERVER_MetricFamilyNew(&family, TRITONSERVER_METRIC_KIND_COUNTER,
                                              "abi_test_requests", "Requests seen"));
  TRITONSERVER_Parameter* label =
      TRITONSERVER_ParameterNew("color", TRITONSERVER_PARAMETER_STRING, "red");
  const TRITONSERVER_Parameter* labels[] = {label};
  TRITONSERVER_Metric* metric = nullptr;
  EXPECT_SUCCESS(TRITONSERVER_MetricNew(&metric, family, labels, 1));
  TRITONSERVER_ParameterDelete(label);

  EXPECT_SUCCESS(TRITONSERVER_MetricIncrement(metric, 2.5));
  EXPECT_CODE(TRITONSERVER_MetricIncrement(metric, -1), kInvalidArgument);
  EXPECT_CODE(TRITONSERVER_MetricSet(metric, 1), kUnsupported);
  EXPECT_CODE(TRITONSERVER_MetricObserve(metric, 1), kUnsupported);
  double value = 0;
  EXPECT_SUCCESS(TRITONSERVER_MetricValue(metric, &value));
  EXPECT_EQ(value, 2.5);
  TRITONSERVER_MetricKind kind = TRITONSERVER_METRIC_KIND_GAUGE;
  EXPECT_SUCCESS(TRITONSERVER_GetMetricKind(metric, &kind));
  EXPECT_EQ(kind, TRITONSERVER_METRIC_KIND_COUNTER);
  EXPECT_NE(Page().find("abi_test_requests{color=\"red\"} 2.5"), std::string::npos) << Page();

  EXPECT_CODE(TRITONSERVER_MetricFamilyDelete(family), kInternal);
  EXPECT_SUCCESS(TRITONSERVER_MetricDelete(metric));
  EXPECT_SUCCESS(TRITONSERVER_MetricFamilyDelete(family));
  EXPECT_EQ(Page().find("abi_test_requests"), std::string::npos);
}

TEST(CustomMetricsTest, HandlesOfOneFamilyShareValues) {
  TRITONSERVER_MetricFamily* families[2] = {};
  TRITONSERVER_Metric* metrics[2] = {};
  for (int i = 0; i < 2; ++i) {
    EXPECT_SUCCESS(TRITONSERVER_MetricFamilyNew(&families[i], TRITONSERVER_METRIC_KIND_GAUGE,
                                                "abi_test_level", "Level"));
    EXPECT_SUCCESS(TRITONSERVER_MetricNew(&metrics[i], families[i], nullptr, 0));
  }
  TRITONSERVER_MetricFamily* clash = nullptr;
  EXPECT_CODE(TRITONSERVER_MetricFamilyNew(&clash, TRITONSERVER_METRIC_KIND_COUNTER,
                                           "abi_test_level", "Level"),
              kInvalidArgument);
  EXPECT_EQ(clash, nullptr);
  EXPECT_SUCCESS(TRITONSERVER_MetricSet(metrics[0], 4));
  EXPECT_SUCCESS(TRITONSERVER_MetricIncrement(metrics[1], -1));
  double value = 0;
  EXPECT_SUCCESS(TRITONSERVER_MetricValue(metrics[0], &value));
  EXPECT_EQ(value, 3);
  for (int i = 0; i < 2; ++i) {
    EXPECT_SUCCESS(TRITONSERVER_MetricDelete(metrics[i]));
    EXPECT_SUCCESS(TRITONSERVER_MetricFamilyDelete(families[i]));
  }
}

TEST(CustomMetricsTest, HistogramNeedsBuckets) {
  TRITONSERVER_MetricFamily* family = nullptr;
  EXPECT_SUCCESS(TRITONSERVER_MetricFamilyNew(&family, TRITONSERVER_METRIC_KIND_HISTOGRAM,
                                              "abi_test_sizes", "Sizes"));
  TRITONSERVER_Metric* metric = nullptr;
  EXPECT_CODE(TRITONSERVER_MetricNew(&metric, family, nullptr, 0), kInvalidArgument);
  TRITONSERVER_MetricArgs* args = nullptr;
  EXPECT_SUCCESS(TRITONSERVER_MetricArgsNew(&args));
  const double buckets[] = {1, 10};
  EXPECT_CODE(TRITONSERVER_MetricArgsSetHistogram(args, nullptr, 2), kInvalidArgument);
  EXPECT_SUCCESS(TRITONSERVER_MetricArgsSetHistogram(args, buckets, 2));
  EXPECT_SUCCESS(TRITONSERVER_MetricNewWithArgs(&metric, family, nullptr, 0, args));
  EXPECT_SUCCESS(TRITONSERVER_MetricArgsDelete(args));
  EXPECT_SUCCESS(TRITONSERVER_MetricObserve(metric, 5));
  double value = 0;
  EXPECT_CODE(TRITONSERVER_MetricValue(metric, &value), kUnsupported);
  EXPECT_NE(Page().find("abi_test_sizes_bucket{le=\"10\"} 1"), std::string::npos) << Page();
  EXPECT_SUCCESS(TRITONSERVER_MetricDelete(metric));
  EXPECT_SUCCESS(TRITONSERVER_MetricFamilyDelete(family));
}

TEST(CustomMetricsTest, RefusesBadArguments) {
  TRITONSERVER_MetricFamily* family = nullptr;
  EXPECT_CODE(TRITONSERVER_MetricFamilyNew(&family, TRITONSERVER_METRIC_KIND_GAUGE, "bad name", ""),
              kInvalidArgument);
  EXPECT_CODE(
      TRITONSERVER_MetricFamilyNew(&family, static_cast<TRITONSERVER_MetricKind>(3), "a", ""),
      kInvalidArgument);
  EXPECT_CODE(TRITONSERVER_MetricFamilyNew(&family, TRITONSERVER_METRIC_KIND_GAUGE, nullptr, ""),
              kInvalidArgument);
  ASSERT_EQ(family, nullptr);
  EXPECT_SUCCESS(TRITONSERVER_MetricFamilyNew(&family, TRITONSERVER_METRIC_KIND_GAUGE,
                                              "abi_test_labels", "x"));
  const bool yes = true;
  TRITONSERVER_Parameter* label =
      TRITONSERVER_ParameterNew("flag", TRITONSERVER_PARAMETER_BOOL, &yes);
  const TRITONSERVER_Parameter* labels[] = {label, nullptr};
  TRITONSERVER_Metric* metric = nullptr;
  EXPECT_CODE(TRITONSERVER_MetricNew(&metric, family, labels, 1), kInvalidArgument);
  EXPECT_CODE(TRITONSERVER_MetricNew(&metric, family, labels + 1, 1), kInvalidArgument);
  EXPECT_CODE(TRITONSERVER_MetricNew(&metric, family, nullptr, 1), kInvalidArgument);
  TRITONSERVER_ParameterDelete(label);
  EXPECT_SUCCESS(TRITONSERVER_MetricFamilyDelete(family));
}

}  // namespace
}  // namespace nereid::abi
