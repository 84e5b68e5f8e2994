// SPDX-License-Identifier: Apache-2.0
// The parts of a bench that decide: levels, times, stability, and what is shown.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "app/tools/bench/level_report.h"
#include "app/tools/bench/load_levels.h"
#include "app/tools/bench/load_target.h"
#include "app/tools/testing/golden.h"
#include "app/tools/testing/remote_tools_fixture.h"

namespace nereid::app::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Golden(const std::string& name) {
  return SourceDirectory() + "/src/app/tools/golden/bench/" + name;
}

TEST(ParseLevels, Forms) {
  const auto levels = [](const char* text) {
    return ParseLevels("concurrency", text, 1, 100).value();
  };
  EXPECT_THAT(levels("8"), ElementsAre(8));
  EXPECT_THAT(levels("1,8,4"), ElementsAre(1, 8, 4));
  EXPECT_THAT(levels("1:4"), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(levels("1:16:5"), ElementsAre(1, 6, 11, 16));
  EXPECT_THAT(levels("1:16:x2"), ElementsAre(1, 2, 4, 8, 16));
  EXPECT_THAT(levels("1:1.3:0.1").size(), 4u);
  for (const char* wrong : {"", "0", "101", "a", "1:", "4:1", "1:4:0", "1:4:x1", "1:2:3:4", "1,,2",
                            "1:100:0.0001", "nan", "1:inf", "1:100:-1", "1:100:nan"}) {
    const auto parsed = ParseLevels("concurrency", wrong, 1, 100);
    ASSERT_FALSE(parsed.ok()) << wrong;
    EXPECT_THAT(parsed.status().message(), HasSubstr("--concurrency must be a number, a list"));
  }
}

TEST(DueTimes, HaveTheRate) {
  const auto constant = DueTimes(1000, false, 5);
  EXPECT_EQ(constant(), 5u);
  EXPECT_EQ(constant(), 1'000'005u);
  EXPECT_EQ(constant(), 2'000'005u);
  const auto poisson = DueTimes(1000, true, 0);
  uint64_t last = 0;
  for (int i = 0; i < 100'000; ++i) last = poisson();
  EXPECT_NEAR(static_cast<double>(last), 100e9, 1e9);
  EXPECT_EQ(DueTimes(10, true, 0)(), 0u);
}

LoadWindow Window(uint64_t answers, uint64_t latency_ns) {
  LoadWindow window;
  window.seconds = 2;
  window.answers = answers;
  for (uint64_t i = 0; i < answers; ++i) window.latencies.Add(latency_ns);
  return window;
}

TEST(IsStable, ThreeWindowsThatAgree) {
  EXPECT_FALSE(IsStable({}, 0.1));
  EXPECT_FALSE(IsStable({Window(100, 50), Window(100, 50)}, 0.1));
  EXPECT_TRUE(IsStable({Window(100, 50), Window(105, 50), Window(95, 52)}, 0.1));
  EXPECT_FALSE(IsStable({Window(100, 50), Window(100, 50), Window(130, 50)}, 0.1));
  EXPECT_FALSE(IsStable({Window(100, 50), Window(100, 50), Window(100, 70)}, 0.1));
  EXPECT_TRUE(IsStable({Window(7, 9), Window(100, 50), Window(100, 50), Window(100, 50)}, 0.1));
  EXPECT_FALSE(IsStable({Window(0, 50), Window(0, 50), Window(0, 50)}, 0.1));
  const LoadWindow merged = Merged({Window(7, 9), Window(1, 5), Window(2, 5), Window(3, 5)});
  EXPECT_EQ(merged.answers, 6u);
  EXPECT_EQ(merged.seconds, 6);
}

std::vector<LevelResult> Results() {
  std::vector<LevelResult> results(3);
  for (size_t i = 0; i < 3; ++i) {
    LevelResult& result = results[i];
    result.level = static_cast<double>(1 << i);
    result.is_stable = i != 2;
    result.windows = 3;
    result.total = Window(2000 * (i + 1), 1'000'000 * (i + 1));
    for (int slow = 0; slow < 100; ++slow) result.total.latencies.Add(5'000'000 * (i + 1));
  }
  results[2].total.errors = 7;
  results[2].first_error = "no \x1b";
  ModelCounters server;
  server.success = {1000, 0};
  server.queue.ns = 100'000'000;
  server.compute_infer.ns = 500'000'000;
  server.compute_input.ns = 10'000'000;
  server.inferences = 1000;
  server.executions = 400;
  results[1].server = server;
  return results;
}

TEST(LevelReport, Texts) {
  const auto results = Results();
  std::string table = LevelHead(false);
  for (const LevelResult& result : results) table += LevelLine(result);
  ExpectGolden(Golden("table.txt"), table + "\n" + LatencyPlot(results));
  ExpectGolden(Golden("levels.json"), LevelsJson(results, "m", "localhost:8000"));
  ExpectGolden(Golden("plot.svg"), LatencySvg(results, "<m> & \x01"));
}

TEST(LevelReport, RatesAndNothing) {
  LevelResult rate;
  rate.is_rate = true;
  rate.level = 12.5;
  rate.most_late = 3;
  EXPECT_THAT(LevelHead(true), HasSubstr("       RATE"));
  EXPECT_THAT(LevelLine(rate), HasSubstr("      12.50         0.0"));
  EXPECT_THAT(LevelLine(rate), HasSubstr("not stable  up to 3 late"));
  EXPECT_EQ(LatencyPlot({rate, rate}), "");
  EXPECT_THAT(LatencySvg({rate}, "t"), HasSubstr("</svg>"));
  EXPECT_THAT(LevelsJson({rate}, "m", "u"), HasSubstr(R"({"request_rate":12.50,"stable":false)"));
}

TEST(LoadTarget, AddressesAndRequests) {
  const auto split = [](const char* url) { return SplitAddress(*ParseServerUrl(url)).value(); };
  EXPECT_EQ(split("host").target.Authority(), "host:8000");
  EXPECT_EQ(split("http://host").target.port, 80);
  EXPECT_EQ(split("https://host/a/b").target.port, 443);
  EXPECT_EQ(split("https://host/a/b").path_prefix, "/a/b");
  EXPECT_EQ(split("http://[::1]:7").target.host, "[::1]");
  EXPECT_EQ(split("unix:/x").target.unix_socket, "/x");
  EXPECT_FALSE(SplitAddress({"http://me@host"}).ok());
  EXPECT_FALSE(SplitAddress({"http://host:99999"}).ok());
  LoadTarget target = split("http://host:1/p");
  target.target.token = "t";
  EXPECT_EQ(RequestBytes(target, {"/v2/models/m/infer", "{}ab", 2}),
            "POST /p/v2/models/m/infer HTTP/1.1\r\nHost: host:1\r\nUser-Agent: nereid\r\n"
            "Authorization: Bearer t\r\nContent-Type: application/octet-stream\r\n"
            "Inference-Header-Content-Length: 2\r\nContent-Length: 4\r\n\r\n{}ab");
  EXPECT_THAT(RequestBytes(target, {"/x", "{}", 0}), HasSubstr("application/json"));
  target.target.protocol = load::Protocol::kGrpc;
  EXPECT_EQ(RequestBytes(target, {"/x", "body", 0}), "body");
}

using BenchTest = testing::RemoteToolsTest;

TEST_F(BenchTest, WhatIsNotMeasured) {
  replies_["GET /v2/models/m"] =
      testing::Reply(R"({"name":"m","inputs":[{"name":"a","datatype":"INT32","shape":[2]}]})");
  const auto why = [&](std::vector<std::string> words) {
    const ToolResult result = Run("bench", std::move(words));
    EXPECT_EQ(result.exit_code, kCannotRun);
    return result.errors;
  };
  EXPECT_THAT(why({}), HasSubstr("expected the name of one model"));
  EXPECT_THAT(why({"m", "--concurrency=0"}), HasSubstr("--concurrency must be"));
  EXPECT_THAT(why({"m", "--concurrency=1", "--request-rate=1"}), HasSubstr("exclude each other"));
  EXPECT_THAT(why({"m", "--distribution=x"}), HasSubstr("constant or poisson"));
  EXPECT_THAT(why({"m", "--window=0"}), HasSubstr("--window must be a number from 0.01 to 3600"));
  EXPECT_THAT(why({"m", "--batch=2"}),
              HasSubstr("first dimension of the input 'a' is not variable"));
  EXPECT_THAT(why({"m", "--batch=2", "--input=a=1,2"}), HasSubstr("for generated inputs"));
  EXPECT_THAT(why({"x"}), HasSubstr("404"));
  replies_["GET /v2/models/m/config"] =
      testing::Reply(R"({"model_transaction_policy":{"decoupled":true}})");
  EXPECT_THAT(why({"m"}), HasSubstr("'m' is decoupled"));
}

TEST(ModelCounters, DifferencesAndSums) {
  const char* const text =
      R"({"model_stats":[{"name":"m","version":"1","inference_count":10,"execution_count":5,)"
      R"("inference_stats":{"success":{"count":10,"ns":1000},"queue":{"count":10,"ns":50}},)"
      R"("batch_stats":[{"batch_size":2,"compute_infer":{"count":5,"ns":100}}],)"
      R"("memory_usage":[{"type":"CPU","byte_size":7}]},{"name":"m","version":"2",)"
      R"("inference_count":"1","x":[1]},{"name":"other","inference_count":99}]})";
  const auto counters = DecodeCounters(text);
  ASSERT_TRUE(counters.ok()) << counters.status().message();
  const ModelCounters sum = Sum(*counters, "m");
  EXPECT_EQ(sum.inferences, 11u);
  EXPECT_EQ(sum.memory_bytes, 7u);
  ASSERT_EQ(sum.batches.size(), 1u);
  ModelCounters later = sum;
  later.inferences += 4;
  later.success.count += 4;
  later.batches[0].executions += 2;
  const ModelCounters difference = Difference(sum, later);
  EXPECT_EQ(difference.inferences, 4u);
  EXPECT_EQ(difference.batches[0].executions, 2u);
  // The model was loaded anew.
  EXPECT_EQ(Difference(later, sum).inferences, sum.inferences);
  for (const char* wrong : {"", "[]", R"({"model_stats":{}})", R"({"model_stats":[1]})"}) {
    EXPECT_FALSE(DecodeCounters(wrong).ok()) << wrong;
  }
}

}  // namespace
}  // namespace nereid::app::tools
