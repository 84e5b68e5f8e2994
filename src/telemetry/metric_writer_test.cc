// SPDX-License-Identifier: Apache-2.0
#include "telemetry/metric_writer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace nereid::telemetry {
namespace {

TEST(FormatMetricValueTest, WholeNumbersHaveNoExponent) {
  EXPECT_EQ(FormatMetricValue(0), "0");
  EXPECT_EQ(FormatMetricValue(-3), "-3");
  EXPECT_EQ(FormatMetricValue(100000), "100000");
  EXPECT_EQ(FormatMetricValue(67376930816.0), "67376930816");
  EXPECT_EQ(FormatMetricValue(1e22), "1e+22");
}

TEST(FormatMetricValueTest, FractionsAreShortestAndSpecialValuesHaveNames) {
  EXPECT_EQ(FormatMetricValue(0.1), "0.1");
  EXPECT_EQ(FormatMetricValue(0.00001), "1e-05");
  EXPECT_EQ(FormatMetricValue(1.0 / 3), "0.3333333333333333");
  EXPECT_EQ(FormatMetricValue(std::nan("")), "NaN");
  EXPECT_EQ(FormatMetricValue(std::numeric_limits<double>::infinity()), "+Inf");
  EXPECT_EQ(FormatMetricValue(-std::numeric_limits<double>::infinity()), "-Inf");
}

TEST(LabelsTest, SortedEscapedAndLastOfANameWins) {
  const Labels labels({{"version", "1"}, {"model", "a\"b\\c\nd"}, {"version", "2"}});
  EXPECT_EQ(labels.text(), R"(model="a\"b\\c\nd",version="2")");
  EXPECT_EQ(labels.With("_tag", "t").text(), R"(_tag="t",model="a\"b\\c\nd",version="2")");
  EXPECT_EQ(Labels().text(), "");
}

TEST(LabelsTest, BadNamesAreRefusedAndDoNotSpoilTheText) {
  for (const char* name : {"", "1a", "a-b", "a:b", "__x", "le", "quantile", "ä"}) {
    EXPECT_EQ(Labels({{name, "v"}}).Validate().code(), base::StatusCode::kInvalidArgument) << name;
  }
  EXPECT_TRUE(Labels({{"_my_tag", "v"}, {"a1", "v"}}).Validate().ok());
  EXPECT_EQ(Labels({{"_a b-c", "v"}}).text(), "_a_b_c=\"v\"");
  EXPECT_EQ(Labels({{"9", "v"}}).text(), "_9=\"v\"");
}

TEST(MetricWriterTest, FamiliesAreGroupedInOrderOfFirstMention) {
  MetricWriter writer;
  const Labels a({{"model", "a"}, {"version", "1"}});
  const Labels b({{"model", "b"}, {"version", "1"}});
  for (const Labels& labels : {a, b}) {
    writer.Family(MetricKind::kCounter, "requests", "How many\nwith a \\")
        .Sample(labels, uint64_t{3});
    writer.Family(MetricKind::kGauge, "pending", "Waiting").Sample(labels, 0.5);
  }
  writer.Family(MetricKind::kGauge, "childless", "Never printed");
  EXPECT_EQ(writer.Text(),
            "# HELP requests How many\\nwith a \\\\\n"
            "# TYPE requests counter\n"
            "requests{model=\"a\",version=\"1\"} 3\n"
            "requests{model=\"b\",version=\"1\"} 3\n"
            "# HELP pending Waiting\n"
            "# TYPE pending gauge\n"
            "pending{model=\"a\",version=\"1\"} 0.5\n"
            "pending{model=\"b\",version=\"1\"} 0.5\n");
}

TEST(MetricWriterTest, BucketsHaveTheirLatestExemplarInOpenMetrics) {
  Histogram histogram({100, 500});
  histogram.Observe(7);
  EXPECT_TRUE(histogram.Snapshot().exemplars.empty());
  histogram.Observe(Exemplar{"0123abcd", 101, 1500});
  histogram.Observe(Exemplar{"4567abcd", 500, 2250});
  histogram.Observe(Exemplar{"89ababcd", 501, 3000});
  const auto page = [&](Exposition exposition) {
    MetricWriter writer(exposition);
    writer.Family(MetricKind::kHistogram, "first", "").Sample({}, histogram.Snapshot());
    return writer.Text();
  };
  EXPECT_EQ(page(Exposition::kOpenMetrics),
            "# TYPE first histogram\n"
            "first_bucket{le=\"100.0\"} 1\n"
            "first_bucket{le=\"500.0\"} 3 # {trace_id=\"4567abcd\"} 500 2.250\n"
            "first_bucket{le=\"+Inf\"} 4 # {trace_id=\"89ababcd\"} 501 3.000\n"
            "first_count 4\n"
            "first_sum 1109\n"
            "# EOF\n");
  EXPECT_EQ(page(Exposition::kPrometheusText).find("trace_id"), std::string::npos);
}

TEST(MetricWriterTest, HistogramLinesAreCumulative) {
  Histogram histogram({100, 500, 2000.5});
  for (double v : {1.0, 100.0, 100.5, 3000.0}) histogram.Observe(v);
  MetricWriter writer;
  writer.Family(MetricKind::kHistogram, "first_ms", "First")
      .Sample({{"model", "m"}}, histogram.Snapshot());
  EXPECT_EQ(writer.Text(),
            "# HELP first_ms First\n"
            "# TYPE first_ms histogram\n"
            "first_ms_count{model=\"m\"} 4\n"
            "first_ms_sum{model=\"m\"} 3201.5\n"
            "first_ms_bucket{model=\"m\",le=\"100\"} 2\n"
            "first_ms_bucket{model=\"m\",le=\"500\"} 3\n"
            "first_ms_bucket{model=\"m\",le=\"2000.5\"} 3\n"
            "first_ms_bucket{model=\"m\",le=\"+Inf\"} 4\n");
}

TEST(MetricWriterTest, HistogramWithoutLabelsHasOnlyTheBound) {
  MetricWriter writer;
  writer.Family(MetricKind::kHistogram, "h", "").Sample({}, Histogram({1}).Snapshot());
  EXPECT_EQ(
      writer.Text(),
      "# TYPE h histogram\nh_count 0\nh_sum 0\nh_bucket{le=\"1\"} 0\nh_bucket{le=\"+Inf\"} 0\n");
}

TEST(MetricWriterTest, ASeriesIsNeverPrintedTwiceNorUnderTwoKinds) {
  MetricWriter writer;
  writer.Family(MetricKind::kCounter, "n", "N").Sample({{"a", "1"}}, uint64_t{1});
  writer.Family(MetricKind::kCounter, "n", "other words").Sample({{"a", "1"}}, uint64_t{2});
  writer.Family(MetricKind::kGauge, "n", "N").Sample({{"a", "2"}}, 3.0);
  EXPECT_EQ(writer.Text(), "# HELP n N\n# TYPE n counter\nn{a=\"1\"} 1\n");
}

TEST(FormatBoundTest, OpenMetricsHasTheCanonicalForm) {
  const auto open = [](double value) { return FormatBound(value, Exposition::kOpenMetrics); };
  EXPECT_EQ(open(0), "0.0");
  EXPECT_EQ(open(1), "1.0");
  EXPECT_EQ(open(0.5), "0.5");
  EXPECT_EQ(open(100), "100.0");
  EXPECT_EQ(open(999999), "999999.0");
  EXPECT_EQ(open(1e6), "1e+06");
  EXPECT_EQ(open(3600000), "3.6e+06");
  EXPECT_EQ(open(0.00001), "1e-05");
  EXPECT_EQ(open(std::numeric_limits<double>::infinity()), "+Inf");
  EXPECT_EQ(FormatBound(100, Exposition::kPrometheusText), "100");
}

TEST(LabelSeriesTest, PutsTheValueWhereItsNameBelongs) {
  const auto text = [](const Labels& labels, std::string_view value) {
    std::string out;
    LabelSeries(labels, "reason").AppendText(value, &out);
    return out;
  };
  EXPECT_EQ(text({{"model", "m"}, {"version", "1"}}, "a\"b"),
            R"(model="m",reason="a\"b",version="1")");
  EXPECT_EQ(text({}, "x"), R"(reason="x")");
  EXPECT_EQ(text({{"z", "1"}, {"reason", "old"}}, "new"), R"(reason="new",z="1")");
  EXPECT_EQ(text({{"a", "1"}}, ""), R"(a="1",reason="")");
}

TEST(MetricWriterTest, ASeriesOfLabelsIsNotPrintedTwice) {
  MetricWriter writer;
  auto& family = writer.Family(MetricKind::kCounter, "n", "");
  const LabelSeries series({{"model", "m"}}, "reason");
  family.Sample(series, "x", 1);
  family.Sample(series, "x", 2);
  family.Sample({{"reason", "x"}, {"model", "m"}}, uint64_t{3});
  EXPECT_EQ(writer.Text(), "# TYPE n counter\nn{model=\"m\",reason=\"x\"} 1\n");
}

TEST(OpenMetricsTest, SeriesKeepTheirNames) {
  MetricWriter writer(Exposition::kOpenMetrics);
  writer.Family(MetricKind::kCounter, "nereid_x_total", "Say \"x\"").Sample({}, uint64_t{3});
  writer.Family(MetricKind::kCounter, "nv_x", "X").Sample({}, uint64_t{4});
  writer.Family(MetricKind::kGauge, "nv_memory_bytes", "").Sample({{"a", "1"}}, 0.5);
  EXPECT_EQ(writer.Text(),
            "# HELP nereid_x Say \\\"x\\\"\n"
            "# TYPE nereid_x counter\n"
            "nereid_x_total 3\n"
            "# HELP nv_x X\n"
            "# TYPE nv_x unknown\n"
            "nv_x 4\n"
            "# TYPE nv_memory_bytes gauge\n"
            "# UNIT nv_memory_bytes bytes\n"
            "nv_memory_bytes{a=\"1\"} 0.5\n"
            "# EOF\n");
}

TEST(OpenMetricsTest, BucketsComeBeforeCountAndSum) {
  Histogram histogram({100, 1e6});
  histogram.Observe(7);
  MetricWriter writer(Exposition::kOpenMetrics);
  writer.Family(MetricKind::kHistogram, "h_ms", "").Sample({}, histogram.Snapshot());
  EXPECT_EQ(writer.Text(),
            "# TYPE h_ms histogram\n# UNIT h_ms ms\nh_ms_bucket{le=\"100.0\"} 1\n"
            "h_ms_bucket{le=\"1e+06\"} 1\nh_ms_bucket{le=\"+Inf\"} 1\nh_ms_count 1\nh_ms_sum 7\n"
            "# EOF\n");
}

TEST(OpenMetricsTest, TwoFamiliesNeverHaveOneName) {
  MetricWriter writer(Exposition::kOpenMetrics);
  writer.Family(MetricKind::kGauge, "x", "").Sample({}, 1.0);
  writer.Family(MetricKind::kCounter, "x_total", "").Sample({}, uint64_t{2});
  writer.Family(MetricKind::kCounter, "_total", "").Sample({}, uint64_t{2});
  EXPECT_EQ(writer.Text(), "# TYPE x gauge\nx 1\n# TYPE _total unknown\n_total 2\n# EOF\n");
}

TEST(OpenMetricsTest, AnEmptyPageHasItsEnd) {
  EXPECT_EQ(MetricWriter(Exposition::kOpenMetrics).Text(), "# EOF\n");
}

}  // namespace
}  // namespace nereid::telemetry
