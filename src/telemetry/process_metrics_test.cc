// SPDX-License-Identifier: Apache-2.0
#include "telemetry/process_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nereid::telemetry {
namespace {

constexpr char kMeminfo[] =
    "MemTotal:       16000 kB\nMemFree:         1000 kB\nMemAvailable:    4000 kB\nBuffers: 1 kB\n";

TEST(ParseProcStatTest, IdleAndWaitingAreNotBusy) {
  const auto times = ParseProcStat("cpu  10 1 5 100 20 2 3 4 50 0\ncpu0 1 2 3 4\n");
  ASSERT_TRUE(times.ok());
  EXPECT_EQ(times->busy, 25u);
  EXPECT_EQ(times->total, 145u);
  EXPECT_EQ(ParseProcStat("cpu  1 2 3 4")->total, 10u);
}

TEST(ParseProcStatTest, OtherTextIsAnError) {
  for (const char* text : {"", "cpu0 1 2 3 4\n", "cpu  1 2 3\n", "cpu  a b c d\n", "intr 5"}) {
    EXPECT_FALSE(ParseProcStat(text).ok()) << text;
  }
}

TEST(CpuUtilizationTest, ShareOfTheTimeBetween) {
  EXPECT_DOUBLE_EQ(CpuUtilization({10, 100}, {60, 200}), 0.5);
  EXPECT_DOUBLE_EQ(CpuUtilization({10, 100}, {10, 100}), 0);
  EXPECT_DOUBLE_EQ(CpuUtilization({10, 100}, {5, 90}), 0);  // counters went back
  EXPECT_DOUBLE_EQ(CpuUtilization({0, 0}, {11, 10}), 1);
}

TEST(ParseMeminfoTest, UsedIsTotalLessAvailable) {
  const auto memory = ParseMeminfo(kMeminfo);
  ASSERT_TRUE(memory.ok());
  EXPECT_EQ(memory->total_bytes, 16000u * 1024);
  EXPECT_EQ(memory->used_bytes, 12000u * 1024);
  EXPECT_FALSE(ParseMeminfo("MemTotal: 1 kB\n").ok());
  EXPECT_FALSE(ParseMeminfo("MemTotal: x\nMemAvailable: 1 kB").ok());
  EXPECT_FALSE(ParseMeminfo("MemTotal: 18446744073709551615 kB\nMemAvailable: 1 kB").ok());
}

TEST(ProcessMetricsTest, PageOfAnIdleServer) {
  Registry registry;
  base::FakeClock clock;
  std::string stat = "cpu  100 0 0 100 0 0 0 0\n";
  ProcessMetricsOptions options;
  options.pinned_pool = [] { return PoolUse{268435456, 64}; };
  ProcessMetrics metrics(registry, options, clock, [&](const std::string& path) {
    return base::Result<std::string>(path == "/proc/stat" ? stat : std::string(kMeminfo));
  });
  const auto page = [](const std::string& utilization) {
    return "# HELP nv_pinned_memory_pool_total_bytes Size of the pinned host memory pool, in "
           "bytes\n"
           "# TYPE nv_pinned_memory_pool_total_bytes gauge\n"
           "nv_pinned_memory_pool_total_bytes 268435456\n"
           "# HELP nv_pinned_memory_pool_used_bytes Used bytes of the pinned host memory pool\n"
           "# TYPE nv_pinned_memory_pool_used_bytes gauge\n"
           "nv_pinned_memory_pool_used_bytes 64\n"
           "# HELP nv_cpu_utilization Fraction of the machine's CPU time that was busy, 0.0 to "
           "1.0\n"
           "# TYPE nv_cpu_utilization gauge\n"
           "nv_cpu_utilization " +
           utilization +
           "\n"
           "# HELP nv_cpu_memory_total_bytes Total main memory of the machine, in bytes\n"
           "# TYPE nv_cpu_memory_total_bytes gauge\n"
           "nv_cpu_memory_total_bytes 16384000\n"
           "# HELP nv_cpu_memory_used_bytes Used main memory of the machine, in bytes\n"
           "# TYPE nv_cpu_memory_used_bytes gauge\n"
           "nv_cpu_memory_used_bytes 12288000\n";
  };
  EXPECT_EQ(registry.Render(), page("0"));

  stat = "cpu  130 0 0 170 0 0 0 0\n";
  clock.Advance(1'999'000'000);
  EXPECT_EQ(registry.Render(), page("0"));  // too soon after the last reading
  clock.Advance(1'000'000);
  EXPECT_EQ(registry.Render(), page("0.3"));
}

TEST(ProcessMetricsTest, UnreadableMetricsAreAbsent) {
  Registry registry;
  base::FakeClock clock;
  ProcessMetrics metrics(registry, {}, clock, [](const std::string&) {
    return base::Result<std::string>(base::Status::NotFound("none"));
  });
  EXPECT_THAT(registry.Render(), ::testing::HasSubstr("nv_pinned_memory_pool_used_bytes 0\n"));
  EXPECT_THAT(registry.Render(), ::testing::Not(::testing::HasSubstr("nv_cpu")));
}

TEST(ProcessMetricsTest, SwitchedOffWithoutCpuFamilies) {
  Registry registry;
  ProcessMetricsOptions options;
  options.cpu = false;
  ProcessMetrics metrics(registry, options);
  EXPECT_THAT(registry.Render(), ::testing::Not(::testing::HasSubstr("nv_cpu")));
}

TEST(ProcessMetricsTest, ReadsTheRealProc) {
  Registry registry;
  ProcessMetrics metrics(registry, {});
  EXPECT_THAT(registry.Render(), ::testing::ContainsRegex("nv_cpu_memory_total_bytes [1-9]"));
}

}  // namespace
}  // namespace nereid::telemetry
