// SPDX-License-Identifier: Apache-2.0
#include "console/documents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace nereid::console {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Documents, Session) {
  EXPECT_EQ(SessionDocument({.roles = {api::Role::kInfer},
                             .is_guarded = true,
                             .serves_management = false,
                             .server = {"n\"", "1.2", {}}}),
            R"({"roles":["infer"],"guarded":true,"serves_management":false,)"
            R"("server":{"name":"n\"","version":"1.2"}})");
}

TEST(Documents, SeriesHavePointsInTheOrderOfTheFields) {
  Point point{.time_ms = 5};
  point.requests = 1.23456F;
  point.failures = std::numeric_limits<float>::infinity();
  point.pending = 7;
  SeriesStore::Series series{"m", "2", true, {point}, {}};
  EXPECT_EQ(SeriesDocument({series}, 3),
            R"({"fields":["time_ms","requests","failures","inferences","executions","p50_us",)"
            R"("p90_us","p99_us","queue_us","compute_us","pending"],"omitted":3,"series":[)"
            R"({"model":"m","version":"2","loaded":true,)"
            R"("seconds":[[5,1.235,0,0,0,0,0,0,0,0,7]],"ten_seconds":[]}]})");
  EXPECT_EQ(SampleDocument({{"m", "2", point}}, {.cpus = 0.5, .memory_bytes = 1024}, 6),
            R"({"time_ms":6,"cpus":0.5,"memory_bytes":1024,"points":[{"model":"m","version":"2",)"
            R"("point":[5,1.235,0,0,0,0,0,0,0,0,7]}]})");
}

TEST(Documents, ModelState) {
  telemetry::ModelStatistics statistics;
  statistics.name = "m";
  statistics.version = "1";
  statistics.batch_stats.resize(1);
  statistics.batch_stats[0].batch_size = 4;
  statistics.batch_stats[0].compute_infer = {2, 600};
  statistics.batches_closed = {{"single", 0}, {"preferred", 2}};
  statistics.sequences = telemetry::SequenceStatistics{
      .active = 1, .backlog = 2, .slots = 3, .slots_in_use = 1, .ended = {{"end", 9}}};
  const std::string text =
      ModelStateDocument({statistics}, {{"m", 1, 1, 2, "", "plan"}, {"m", 2, 1, 2, "", "plan"}});
  EXPECT_THAT(text, HasSubstr(R"("batch_sizes":[{"size":4,"count":2,"compute_ns":600}])"));
  EXPECT_THAT(text, HasSubstr(R"("closed":[{"reason":"preferred","text":"preferred size reached",)"
                              R"("count":2}])"));
  EXPECT_THAT(text, HasSubstr(R"("sequences":{"active":1,"backlog":2,"slots":3,"slots_in_use":1,)"
                              R"("ended":{"end":9}})"));
  EXPECT_THAT(text,
              HasSubstr(R"("cores":[{"instances":1,"threads":2,"cpus":"","set_by":"plan"}])"));
}

TEST(Documents, LogKeepsTheNewestLinesWithinItsSize) {
  std::vector<base::TailLine> lines;
  for (uint64_t number = 1; number <= 3; ++number) {
    base::TailLine line;
    line.number = number;
    line.level = base::LogLevel::kWarning;
    line.message = std::string(60, 'x') + "\xff<script>\n";
    lines.push_back(line);
  }
  const std::string text = LogDocument(lines, 3, 150);
  EXPECT_THAT(text, Not(HasSubstr(R"("number":1,)")));
  EXPECT_THAT(text, HasSubstr(R"("number":2,"time_ms":0,"level":"warning")"));
  EXPECT_THAT(text, HasSubstr("\xef\xbf\xbd<script>\\n"));
  EXPECT_EQ(LogDocument(lines, 3, 10), R"({"last":3,"lines":[]})");
}

TEST(Documents, TracesHaveTimesSinceTheirBegin) {
  tracing::Span whole, model;
  whole.name = "InferRequest";
  whole.start_ns = 1'000'000'000;
  whole.end_ns = 1'000'900'000;
  whole.parent_is_remote = true;
  whole.context.span_id[7] = 1;
  model.name = "m";
  model.start_ns = 1'000'100'000;
  model.end_ns = 1'000'400'500;
  model.parent = whole.context.span_id;
  model.context.span_id[7] = 2;
  model.attributes = {{"triton.model_version", int64_t{3}},
                      {"triton.request_id", std::string("r")}};
  model.events = {{1'000'200'000, "QUEUE_START"}};
  const TraceStore::Trace trace{
      .id = "ab", .spans = {model, whole}, .dropped = 0, .is_complete = true};
  EXPECT_EQ(
      TraceDocument(trace),
      R"({"id":"ab","complete":true,"time_ms":1000,"dropped":0,"spans":[)"
      R"({"id":"0000000000000002","parent":"0000000000000001","name":"m","start_us":100,)"
      R"("duration_us":300.5,"attributes":{"triton.model_version":3,"triton.request_id":"r"},)"
      R"("events":[{"name":"QUEUE_START","at_us":200}],"dropped_events":0},)"
      R"({"id":"0000000000000001","parent":"","name":"InferRequest","start_us":0,)"
      R"("duration_us":900,"attributes":{},"events":[],"dropped_events":0}]})");
  EXPECT_EQ(
      TracesDocument({trace}),
      R"({"traces":[{"id":"ab","complete":true,"name":"m","time_ms":1000,"duration_us":900}]})");
}

}  // namespace
}  // namespace nereid::console
