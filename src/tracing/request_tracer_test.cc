// SPDX-License-Identifier: Apache-2.0
#include "tracing/request_tracer.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/clock.h"
#include "base/files.h"
#include "base/hex_text.h"
#include "request/model_identity.h"

namespace nereid::tracing {
namespace {

using api::TraceChanges;
using api::TraceSettings;

TraceChanges Rate(std::optional<uint32_t> value) {
  TraceChanges changes;
  changes.rate = value;
  return changes;
}

TraceChanges Level(std::optional<uint32_t> value) {
  TraceChanges changes;
  changes.level = value;
  return changes;
}

TraceChanges Count(std::optional<int32_t> value) {
  TraceChanges changes;
  changes.count = value;
  return changes;
}

class RequestTracerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder_);
    initial_.level = request::kTraceTimestamps;
    initial_.rate = 1;
    initial_.file = folder_ + "t";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static bool IsTraced(RequestTracer& tracer, const std::string& model) {
    request::InferenceRequest request;
    request.model_name = model;
    const bool traced = tracer.Start(request) != nullptr;
    EXPECT_EQ(request.trace() != nullptr, traced);
    return traced;
  }

  const std::string folder_ = ::testing::TempDir() + "request_tracer_test_" +
                              ::testing::UnitTest::GetInstance()->current_test_info()->name() + "/";
  TraceSettings initial_;
};

TEST_F(RequestTracerTest, ModelsInheritUnsetFields) {
  RequestTracer tracer(initial_);
  ASSERT_TRUE(tracer.Change("m", Level(request::kTraceTensors)).ok());
  ASSERT_TRUE(tracer.Change("", Rate(7)).ok());
  EXPECT_EQ(tracer.Settings("m").rate, 7u);
  EXPECT_EQ(tracer.Settings("m").level, request::kTraceTensors);
  EXPECT_EQ(tracer.Settings("other").level, request::kTraceTimestamps);
  ASSERT_TRUE(tracer.Change("m", Rate(9)).ok());
  ASSERT_TRUE(tracer.Change("", Rate(8)).ok());
  EXPECT_EQ(tracer.Settings("m").rate, 9u);
  EXPECT_EQ(tracer.Change("m", Rate(std::nullopt))->rate, 8u);
  EXPECT_EQ(tracer.Change("", Rate(std::nullopt))->rate, 1u);
  EXPECT_EQ(tracer.Settings("m").rate, 1u);
  EXPECT_EQ(tracer.Change("m", Level(std::nullopt))->level, request::kTraceTimestamps);
}

TEST_F(RequestTracerTest, RefusesSettingsThatTraceNothing) {
  RequestTracer tracer(initial_);
  EXPECT_EQ(tracer.Change("m", Rate(0)).status().message(),
            "Attempting to set invalid trace setting :sample rate must be non-zero");
  EXPECT_EQ(tracer.Settings("m"), initial_);
  EXPECT_FALSE(tracer.Change("", Rate(0)).ok());
  EXPECT_EQ(tracer.Settings(""), initial_);
  initial_.file.clear();
  initial_.level = 0;
  RequestTracer nowhere(initial_);
  EXPECT_EQ(nowhere.Change("", Level(request::kTraceTensors)).status().message(),
            "Attempting to set invalid trace setting :trace file name is not given");
  EXPECT_TRUE(nowhere.Change("", Rate(0)).ok());
}

TEST_F(RequestTracerTest, AModelThatIsLeftWithoutARateIsNotTraced) {
  RequestTracer tracer(initial_);
  ASSERT_TRUE(tracer.Change("m", Level(request::kTraceTimestamps)).ok());
  TraceChanges off = Level(0);
  off.rate = std::optional<uint32_t>(0);
  ASSERT_TRUE(tracer.Change("", off).ok());
  EXPECT_EQ(tracer.Settings("m").rate, 0u);
  EXPECT_FALSE(IsTraced(tracer, "m"));
  EXPECT_FALSE(tracer.active());
}

TEST_F(RequestTracerTest, CountsRequestsOfModelsThatShareSettingsTogether) {
  initial_.rate = 2;
  RequestTracer tracer(initial_);
  EXPECT_FALSE(IsTraced(tracer, "a"));
  EXPECT_TRUE(IsTraced(tracer, "b"));
  ASSERT_TRUE(tracer.Change("a", Rate(1)).ok());
  EXPECT_TRUE(IsTraced(tracer, "a"));
  EXPECT_TRUE(IsTraced(tracer, "a"));
  EXPECT_FALSE(IsTraced(tracer, "b"));
  ASSERT_TRUE(tracer.Change("a", Level(0)).ok());
  EXPECT_FALSE(IsTraced(tracer, "a"));
  EXPECT_TRUE(IsTraced(tracer, "b"));
}

TEST_F(RequestTracerTest, TheRemainingCountSurvivesOtherChanges) {
  initial_.count = 3;
  RequestTracer tracer(initial_);
  EXPECT_TRUE(IsTraced(tracer, "a"));
  EXPECT_EQ(tracer.Settings("").count, 2);
  TraceChanges both = Rate(1);
  both.log_frequency = std::optional<uint32_t>(5);
  EXPECT_EQ(tracer.Change("", both)->count, 2);
  EXPECT_EQ(tracer.Change("m", Level(request::kTraceTimestamps))->count, 2);
  EXPECT_TRUE(IsTraced(tracer, "m"));
  EXPECT_EQ(tracer.Settings("m").count, 1);
  EXPECT_EQ(tracer.Settings("").count, 2);
  EXPECT_EQ(tracer.Change("m", Level(request::kTraceTensors))->count, 1);
  EXPECT_EQ(tracer.Change("", Count(9))->count, 9);
  EXPECT_EQ(tracer.Settings("m").count, 9);
  EXPECT_EQ(tracer.Change("m", Count(1))->count, 1);
  EXPECT_TRUE(IsTraced(tracer, "m"));
  EXPECT_FALSE(IsTraced(tracer, "m"));
  EXPECT_EQ(tracer.Change("", Count(std::nullopt))->count, 3);
}

TEST_F(RequestTracerTest, WritesActivitiesOfFrontEndAndEngine) {
  uint64_t id = 0;
  uint64_t child_id = 0;
  {
    RequestTracer tracer(initial_);
    request::InferenceRequest request;
    request.model_name = "m";
    auto record = tracer.Start(request);
    ASSERT_NE(record, nullptr);
    id = request.trace()->id();
    record->Stamp("HTTP_RECV_START", 1);
    request::ModelIdentity model;
    model.name = "m";
    model.version = 3;
    request.trace()->Describe(model, "r\xFF");
    request.trace()->Report(request::TraceActivity::kRequestStart, 2);
    const auto child = request::ShareTrace(request.trace()->SpawnChild());
    child_id = child->id();
    child->Describe(model, "");
    child->ReportCustom("MINE", 3);
    record->OnResponse(*child, 4);  // the response of a step, not of the request
    record->OnResponse(*request.trace(), 5);
    record->Stamp("HTTP_SEND_END", 6);
  }
  const auto stamp = [](uint64_t of, const std::string& name, int time) {
    return R"({"id":)" + std::to_string(of) + R"(,"timestamps":[{"name":")" + name + R"(","ns":)" +
           std::to_string(time) + "}]}";
  };
  const std::string text = *base::ReadFile(folder_ + "t");
  EXPECT_EQ(text, "[" + stamp(id, "HTTP_RECV_START", 1) + ",{\"id\":" + std::to_string(id) +
                      R"(,"model_name":"m","model_version":3,"request_id":"rÿ"},)" +
                      stamp(id, "REQUEST_START", 2) + ",{\"id\":" + std::to_string(child_id) +
                      R"(,"model_name":"m","model_version":3,"parent_id":)" + std::to_string(id) +
                      "}," + stamp(child_id, "MINE", 3) + "," +
                      stamp(id, "INFER_RESPONSE_COMPLETE", 5) + "," +
                      stamp(id, "HTTP_SEND_END", 6) + "]");
}

TEST_F(RequestTracerTest, TracesInProgressGoToTheSettingsThatSelectedThem) {
  initial_.log_frequency = 1;
  std::shared_ptr<RequestTrace> late;
  {
    RequestTracer tracer(initial_);
    request::InferenceRequest request;
    late = tracer.Start(request);
    ASSERT_TRUE(tracer.Change("", Level(0)).ok());
    late->Stamp("HTTP_SEND_END", 1);
  }
  EXPECT_FALSE(base::PathExists(folder_ + "t.0"));
  late.reset();
  EXPECT_TRUE(base::PathExists(folder_ + "t.0"));
}

class KeepingSink final : public SpanSink {
 public:
  void Add(Span span) noexcept override { spans.push_back(std::move(span)); }
  std::vector<Span> spans;
};

class OpenTelemetryTracerTest : public ::testing::Test {
 protected:
  OpenTelemetryTracerTest() {
    initial_.mode = api::TraceMode::kOpenTelemetry;
    initial_.level = request::kTraceTimestamps;
    initial_.rate = 2;
  }

  /// Runs a request with these headers. Returns whether it was traced.
  static bool IsTraced(RequestTracer& tracer, const TraceHeaders& headers = {}) {
    request::InferenceRequest request;
    request.model_name = "m";
    const auto record = tracer.Start(request, &headers);
    if (record != nullptr) record->Stamp("HTTP_RECV_START", base::SteadyClock().NowNs());
    return record != nullptr;
  }

  const TraceHeaders good_ = {"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00", ""};
  const TraceHeaders bad_ = {"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331", ""};
  const std::shared_ptr<KeepingSink> sink_ = std::make_shared<KeepingSink>();
  TraceSettings initial_;
};

TEST_F(OpenTelemetryTracerTest, SelectsByRateAndCountAndWhatClientsTrace) {
  initial_.count = 1;
  RequestTracer tracer(initial_, sink_);
  EXPECT_TRUE(tracer.active() && tracer.reads_headers());
  EXPECT_FALSE(IsTraced(tracer));
  EXPECT_TRUE(IsTraced(tracer));
  EXPECT_EQ(tracer.Settings("").count, 0);
  for (int i = 0; i < 4; ++i) EXPECT_FALSE(IsTraced(tracer, bad_));
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(IsTraced(tracer, good_));
  ASSERT_EQ(sink_->spans.size(), 5u);
  EXPECT_EQ(sink_->spans[0].parent, SpanId{});
  EXPECT_EQ(base::HexText(sink_->spans[1].context.trace_id), "0af7651916cd43dd8448eb211c80319c");
  EXPECT_EQ(base::HexText(sink_->spans[1].parent), "b7ad6b7169203331");
}

TEST_F(OpenTelemetryTracerTest, WithRateZeroOnlyClientsTrace) {
  initial_.rate = 0;
  RequestTracer tracer(initial_, sink_);
  EXPECT_FALSE(IsTraced(tracer));
  EXPECT_FALSE(IsTraced(tracer));
  EXPECT_TRUE(IsTraced(tracer, good_));
}

TEST_F(OpenTelemetryTracerTest, ALevelIsNeededInAnyCase) {
  initial_.level = 0;
  RequestTracer tracer(initial_, sink_);
  EXPECT_FALSE(tracer.active());
  EXPECT_FALSE(IsTraced(tracer, good_));
  ASSERT_TRUE(tracer.Change("m", Level(request::kTraceTimestamps)).ok());
  EXPECT_TRUE(tracer.active());
  EXPECT_TRUE(IsTraced(tracer, good_));
  EXPECT_EQ(tracer.Change("", Rate(0)).ok(), true);
  EXPECT_EQ(tracer.Change("m", Rate(0)).status().message(),
            "Attempting to set invalid trace setting :sample rate must be non-zero");
}

TEST_F(OpenTelemetryTracerTest, TensorsAreNotTraced) {
  initial_.level = request::kTraceTensors;
  initial_.rate = 1;
  RequestTracer tracer(initial_, sink_);
  request::InferenceRequest request;
  auto record = tracer.Start(request);
  ASSERT_NE(record, nullptr);
  EXPECT_FALSE(request.trace()->wants_tensors());
  EXPECT_FALSE(request.trace()->wants_timestamps());
}

TEST_F(OpenTelemetryTracerTest, AFileOfTheOtherModeIsNotWritten) {
  initial_.rate = 1;
  initial_.file = ::testing::TempDir() + "open_telemetry_tracer_test";
  {
    RequestTracer tracer(initial_, sink_);
    EXPECT_TRUE(IsTraced(tracer));
  }
  EXPECT_FALSE(base::PathExists(initial_.file));
}

TEST_F(RequestTracerTest, IgnoresTraceHeaders) {
  initial_.rate = 2;
  RequestTracer tracer(initial_);
  EXPECT_FALSE(tracer.reads_headers());
  const TraceHeaders headers = {"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", ""};
  request::InferenceRequest request;
  EXPECT_EQ(tracer.Start(request, &headers), nullptr);
}

}  // namespace
}  // namespace nereid::tracing
