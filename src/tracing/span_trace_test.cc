// SPDX-License-Identifier: Apache-2.0
#include "tracing/span_trace.h"

#include <gtest/gtest.h>

#include <map>

#include "base/hex_text.h"
#include "request/model_identity.h"

namespace nereid::tracing {
namespace {

using request::Trace;
using request::TraceActivity;

class KeepingSink final : public SpanSink {
 public:
  void Add(Span span) noexcept override { spans.push_back(std::move(span)); }
  std::vector<Span> spans;
};

/// A trace of a request and of its children. Times are 1000 more in the spans.
class SpanTraceTest : public ::testing::Test {
 protected:
  void Begin(SpanTrace::Settings settings = {}) {
    settings.sink = sink_;
    settings.unix_offset_ns = 1000;
    settings.clock = &clock_;
    record_ = std::make_shared<SpanTrace>(std::move(settings));
    root_ = request::ShareTrace(
        std::make_unique<Trace>(record_, request::kTraceTimestamps, /*parent_id=*/0));
    record_->SetRoot(root_->id());
  }

  static void Describe(Trace& trace, const std::string& model, const std::string& id = "") {
    request::ModelIdentity identity;
    identity.name = model;
    identity.version = 3;
    trace.Describe(identity, id);
  }

  /// Reports the way of a request through a model, in steps of 10 ns.
  static void Run(Trace& trace, uint64_t from) {
    trace.Report(TraceActivity::kRequestStart, from);
    trace.Report(TraceActivity::kQueueStart, from + 10);
    trace.Report(TraceActivity::kComputeStart, from + 20);
    trace.Report(TraceActivity::kComputeInputEnd, from + 30);
    trace.Report(TraceActivity::kComputeOutputStart, from + 40);
    trace.Report(TraceActivity::kComputeEnd, from + 50);
    trace.Report(TraceActivity::kRequestEnd, from + 60);
  }

  void End() {
    root_.reset();
    record_.reset();
  }

  /// Returns each span as "parent>name start-end: event@time …", in the order of their ends.
  std::vector<std::string> Lines() const {
    std::map<SpanId, std::string> names;
    for (const Span& span : sink_->spans) names[span.context.span_id] = span.name;
    std::vector<std::string> lines;
    for (const Span& span : sink_->spans) {
      const auto parent = names.find(span.parent);
      std::string line = parent != names.end()     ? parent->second
                         : span.parent == SpanId{} ? "none"
                                                   : "unknown";
      line += ">" + span.name + " " + std::to_string(span.start_ns) + "-" +
              std::to_string(span.end_ns) + ":";
      for (const SpanEvent& event : span.events) {
        line += " " + event.name + "@" + std::to_string(event.time_ns);
      }
      lines.push_back(std::move(line));
    }
    return lines;
  }

  base::FakeClock clock_{500};
  const std::shared_ptr<KeepingSink> sink_ = std::make_shared<KeepingSink>();
  std::shared_ptr<SpanTrace> record_;
  std::shared_ptr<Trace> root_;
};

TEST_F(SpanTraceTest, ShowsTheWayOfARequest) {
  Begin();
  record_->Stamp("HTTP_RECV_START", 90);
  record_->Stamp("HTTP_RECV_END", 95);
  Describe(*root_, "m", "mine");
  Run(*root_, 100);
  record_->OnResponse(*root_, 155);
  record_->Stamp("HTTP_SEND_END", 170);
  const int64_t id = static_cast<int64_t>(root_->id());
  End();
  EXPECT_EQ(Lines(),
            (std::vector<std::string>{
                "m>queue 1110-1120:",
                "m>compute 1120-1150: COMPUTE_START@1120 COMPUTE_INPUT_END@1130 "
                "COMPUTE_OUTPUT_START@1140 COMPUTE_END@1150",
                "InferRequest>m 1100-1160: REQUEST_START@1100 QUEUE_START@1110 REQUEST_END@1160",
                "none>InferRequest 1090-1500: HTTP_RECV_START@1090 HTTP_RECV_END@1095 "
                "INFER_RESPONSE_COMPLETE@1155 HTTP_SEND_END@1170"}));
  const std::vector<Span>& spans = sink_->spans;
  for (const Span& span : spans) {
    EXPECT_EQ(span.context.trace_id, spans.back().context.trace_id);
    EXPECT_EQ(span.context.flags, kSampledFlag);
    EXPECT_FALSE(span.parent_is_remote);
  }
  EXPECT_TRUE(spans[3].attributes.empty());
  ASSERT_EQ(spans[2].attributes.size(), 5u);
  const auto attribute = [&](size_t i) {
    const Span::Attribute& found = spans[2].attributes[i];
    return std::string(found.key) + "=" +
           (found.value.index() == 0 ? std::get<std::string>(found.value)
                                     : std::to_string(std::get<int64_t>(found.value)));
  };
  EXPECT_EQ(attribute(0), "triton.model_name=m");
  EXPECT_EQ(attribute(1), "triton.model_version=3");
  EXPECT_EQ(attribute(2), "triton.trace_id=" + std::to_string(id));
  EXPECT_EQ(attribute(3), "triton.trace_parent_id=0");
  EXPECT_EQ(attribute(4), "triton.request_id=mine");
}

TEST_F(SpanTraceTest, ContinuesTheTraceOfTheClient) {
  SpanContext client;
  client.trace_id.fill(7);
  client.span_id.fill(9);
  client.flags = 0;
  client.state = "a=1";
  Begin({.parent = client});
  Describe(*root_, "m");
  Run(*root_, 100);
  EXPECT_EQ(root_->context(), R"({"traceparent":"00-)" + base::HexText(client.trace_id) + "-" +
                                  base::HexText(sink_->spans.back().context.span_id) +
                                  R"(-01","tracestate":"a=1"})");
  End();
  const Span& request = sink_->spans.back();
  EXPECT_EQ(request.name, "InferRequest");
  EXPECT_EQ(request.parent, client.span_id);
  EXPECT_TRUE(request.parent_is_remote);
  for (const Span& span : sink_->spans) {
    EXPECT_EQ(span.context.trace_id, client.trace_id);
    EXPECT_EQ(span.context.state, "a=1");
    EXPECT_NE(span.context.span_id, client.span_id);
  }
}

TEST_F(SpanTraceTest, StepsOfAnEnsembleAndTheirChildrenAreInsideOfEachOther) {
  Begin();
  Describe(*root_, "ensemble");
  root_->Report(TraceActivity::kRequestStart, 100);
  root_->Report(TraceActivity::kQueueStart, 101);
  auto one = request::ShareTrace(root_->SpawnChild());
  auto two = request::ShareTrace(root_->SpawnChild());
  Describe(*one, "one");
  Describe(*two, "two");
  one->Report(TraceActivity::kRequestStart, 110);
  two->Report(TraceActivity::kRequestStart, 111);
  auto inner = request::ShareTrace(one->SpawnChild());
  Describe(*inner, "inner");
  EXPECT_NE(one->context(), two->context());
  inner->Report(TraceActivity::kRequestStart, 120);
  inner->Report(TraceActivity::kRequestEnd, 125);
  two->Report(TraceActivity::kRequestEnd, 130);
  one->Report(TraceActivity::kRequestEnd, 131);
  // A model that gave its own request back may still make requests.
  auto late = request::ShareTrace(one->SpawnChild());
  Describe(*late, "late");
  late->Report(TraceActivity::kRequestStart, 132);
  late->Report(TraceActivity::kRequestEnd, 133);
  inner.reset();
  one.reset();
  two.reset();
  late.reset();
  record_->OnResponse(*root_, 139);
  root_->Report(TraceActivity::kRequestEnd, 140);
  End();
  EXPECT_EQ(Lines(), (std::vector<std::string>{
                         "one>inner 1120-1125: REQUEST_START@1120 REQUEST_END@1125",
                         "ensemble>two 1111-1130: REQUEST_START@1111 REQUEST_END@1130",
                         "ensemble>one 1110-1131: REQUEST_START@1110 REQUEST_END@1131",
                         "one>late 1132-1133: REQUEST_START@1132 REQUEST_END@1133",
                         "InferRequest>ensemble 1100-1140: REQUEST_START@1100 QUEUE_START@1101 "
                         "REQUEST_END@1140",
                         "none>InferRequest 1139-1500: INFER_RESPONSE_COMPLETE@1139"}));
}

TEST_F(SpanTraceTest, ActivitiesOfBackendsAreEventsAndSpans) {
  Begin();
  Describe(*root_, "m");
  root_->ReportCustom("TOO_EARLY_START", 99);
  root_->Report(TraceActivity::kRequestStart, 100);
  root_->ReportCustom("BATCH_CLOSED: full", 101);
  root_->ReportCustom("OUTER_START", 102);
  root_->ReportCustom("INNER_START", 103);
  root_->ReportCustom("NOTHING_END", 104);
  root_->ReportCustom("POINT", 105);
  root_->ReportCustom("INNER_END", 106);
  root_->ReportCustom("LEFT_START", 107);
  root_->ReportCustom("OUTER_END", 108);
  root_->ReportCustom("OPEN_START", 109);
  root_->ReportCustom("_START", 110);
  root_->Report(TraceActivity::kRequestEnd, 111);
  root_->ReportCustom("AFTER_START", 112);
  End();
  EXPECT_EQ(
      Lines(),
      (std::vector<std::string>{
          "OUTER>INNER 1103-1106: INNER_START@1103 NOTHING_END@1104 POINT@1105 INNER_END@1106",
          "OUTER>LEFT 1107-1108: LEFT_START@1107 OUTER_END@1108",
          "m>OUTER 1102-1108: OUTER_START@1102",
          "m>OPEN 1109-1111: OPEN_START@1109 _START@1110 REQUEST_END@1111",
          "InferRequest>m 1100-1111: REQUEST_START@1100 BATCH_CLOSED: full@1101",
          "none>InferRequest 1500-1500:"}));
}

TEST_F(SpanTraceTest, ARefusedRequestHasOnlyTheSpanOfTheFrontEnd) {
  Begin();
  record_->Stamp("HTTP_RECV_START", 90);
  root_.reset();
  record_->Stamp("HTTP_SEND_END", 99);
  End();
  EXPECT_EQ(Lines(), std::vector<std::string>{
                         "none>InferRequest 1090-1500: HTTP_RECV_START@1090 HTTP_SEND_END@1099"});
}

TEST_F(SpanTraceTest, SpansThatNobodyEndsEndWithTheirTrace) {
  Begin();
  Describe(*root_, "m");
  root_->Report(TraceActivity::kRequestStart, 100);
  root_->Report(TraceActivity::kComputeStart, 101);
  clock_.Advance(100);
  root_.reset();
  EXPECT_EQ(Lines(), (std::vector<std::string>{"m>compute 1101-1600: COMPUTE_START@1101",
                                               "unknown>m 1100-1600: REQUEST_START@1100"}));
}

TEST_F(SpanTraceTest, WithoutTimestampsThereIsOneSpan) {
  Begin({.timestamps = false});
  record_->Stamp("HTTP_RECV_START", 90);
  record_->OnResponse(*root_, 99);
  End();
  EXPECT_EQ(Lines(), std::vector<std::string>{"none>InferRequest 1500-1500:"});
}

TEST_F(SpanTraceTest, TextsAndNumbersAreBounded) {
  Begin();
  Describe(*root_, std::string(300, 'm') + "\xff", std::string(1023, 'i') + "\xc3\xa4");
  root_->Report(TraceActivity::kRequestStart, 100);
  for (int i = 0; i < 40; ++i) root_->ReportCustom("X_START", 101);
  for (int i = 0; i < 1000; ++i) record_->OnResponse(*root_, 102);
  root_->Report(TraceActivity::kRequestEnd, 103);
  End();
  EXPECT_EQ(sink_->spans.size(), 1 + 32u);
  const Span& model = sink_->spans[31];
  EXPECT_EQ(model.name, std::string(256, 'm'));
  EXPECT_EQ(std::get<std::string>(model.attributes[4].value), std::string(1023, 'i'));
  const Span& request = sink_->spans[32];
  EXPECT_EQ(request.events.size(), 128u);
  EXPECT_EQ(request.dropped_events, 872u);
}

TEST_F(SpanTraceTest, TextsBecomeUtf8) {
  Begin();
  Describe(*root_, "m\xff", "\xc3(");
  root_->Report(TraceActivity::kRequestStart, 100);
  root_->ReportCustom("a\x80_START", 101);
  root_->ReportCustom("a\x80_END", 102);
  End();
  EXPECT_EQ(sink_->spans[0].name, "a\xEF\xBF\xBD");
  EXPECT_EQ(sink_->spans[0].end_ns, 1102u);
  EXPECT_EQ(sink_->spans[1].name, "m\xEF\xBF\xBD");
  EXPECT_EQ(std::get<std::string>(sink_->spans[1].attributes[4].value), "\xEF\xBF\xBD(");
}

}  // namespace
}  // namespace nereid::tracing
