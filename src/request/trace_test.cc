// SPDX-License-Identifier: Apache-2.0
#include "request/trace.h"

#include <gtest/gtest.h>

#include "request/binding.h"
#include "request/inference_request.h"
#include "request/response_factory.h"
#include "request/testing/make_model.h"
#include "request/testing/recording_sink.h"

namespace nereid::request {
namespace {

/// What a trace and its children said, in order.
struct Diary {
  std::vector<std::string> lines;
  std::vector<std::unique_ptr<Trace>> released;
};

class DiaryListener final : public TraceListener {
 public:
  explicit DiaryListener(Diary& diary) : diary_(diary) {}
  void OnActivity(Trace&, TraceActivity activity, uint64_t time_ns) noexcept override {
    diary_.lines.push_back(std::to_string(static_cast<int>(activity)) + "@" +
                           (time_ns < 1000 ? std::to_string(time_ns) : "now"));
  }
  void OnCustomActivity(Trace&, std::string_view name, uint64_t time_ns) noexcept override {
    diary_.lines.push_back(std::string(name) + "@" + std::to_string(time_ns));
  }
  void OnTensor(Trace&, TraceActivity activity, const TracedTensor& tensor) noexcept override {
    diary_.lines.push_back(std::to_string(static_cast<int>(activity)) + " " + tensor.name + "=" +
                           std::string(tensor.data, tensor.size));
  }
  void OnReleased(std::unique_ptr<Trace> trace) noexcept override {
    diary_.lines.emplace_back("released");
    diary_.released.push_back(std::move(trace));
  }

 private:
  Diary& diary_;
};

std::unique_ptr<Trace> NewTrace(Diary& diary, uint32_t level, uint64_t parent_id = 0) {
  return std::make_unique<Trace>(std::make_shared<DiaryListener>(diary), level, parent_id);
}

using Lines = std::vector<std::string>;

TEST(TraceTest, IdsAreUniqueAndChildrenKnowTheirParent) {
  Diary diary;
  const auto parent = NewTrace(diary, kTraceTimestamps, 7);
  EXPECT_GT(parent->id(), 0u);
  EXPECT_EQ(parent->parent_id(), 7u);
  EXPECT_EQ(parent->model_version(), -1);
  const auto child = parent->SpawnChild();
  EXPECT_NE(child->id(), parent->id());
  EXPECT_EQ(child->parent_id(), parent->id());
  child->Report(TraceActivity::kQueueStart, 5);
  EXPECT_EQ(diary.lines, Lines{"1@5"});
}

TEST(TraceTest, TheLevelDecidesWhatIsReported) {
  const auto lines_of = [](uint32_t level) {
    Diary diary;
    InferenceRequest request;
    request.AddInput("A", tensor::DataType::kUint8, {3}).value()->Append("xyz", 3);
    const auto trace = NewTrace(diary, level);
    trace->Report(TraceActivity::kRequestStart, 1);
    trace->ReportCustom("own", 2);
    trace->ReportInputs(TraceActivity::kTensorQueueInput, request.inputs());
    return diary.lines;
  };
  EXPECT_EQ(lines_of(0), Lines{});
  EXPECT_EQ(lines_of(kTraceTimestamps), (Lines{"0@1", "own@2"}));
  EXPECT_EQ(lines_of(kTraceMin), (Lines{"0@1", "own@2"}));
  EXPECT_EQ(lines_of(kTraceMax), (Lines{"0@1", "own@2"}));
  EXPECT_EQ(lines_of(kTraceTensors), Lines{"7 A=xyz"});
  EXPECT_EQ(lines_of(kTraceTensors | kTraceTimestamps), (Lines{"0@1", "own@2", "7 A=xyz"}));
}

TEST(TraceTest, AnInputInPiecesIsReportedWhole) {
  Diary diary;
  InferenceRequest request;
  Input* const input = request.AddInput("A", tensor::DataType::kUint8, {3}).value();
  input->Append("x", 1);
  input->Append("yz", 2);
  NewTrace(diary, kTraceTensors)->ReportInputs(TraceActivity::kTensorQueueInput, request.inputs());
  EXPECT_EQ(diary.lines, Lines{"7 A=xyz"});
}

TEST(TraceTest, CustomActivitiesAreNotedInTheContext) {
  Diary diary;
  const auto trace = NewTrace(diary, 0);
  EXPECT_EQ(trace->context(), "");
  trace->ReportCustom("alone", 1);
  EXPECT_EQ(trace->context(), R"({"1":"alone"})");
  trace->SetContext(R"( {"a": "b"} )");
  EXPECT_EQ(trace->context(), R"( {"a": "b"} )");
  trace->ReportCustom("first", 123);
  trace->ReportCustom("second \"quoted\"", 124);
  trace->ReportCustom("in its place", 123);
  EXPECT_EQ(trace->context(), R"({"a": "b","123":"in its place","124":"second \"quoted\""})");
  EXPECT_EQ(trace->SpawnChild()->context(), "");
  for (const char* const other : {"no object", "[1]", "{", "", "{ }"}) {
    trace->SetContext(other);
    trace->ReportCustom("x", 9);
    EXPECT_EQ(trace->context(), R"({"9":"x"})") << other;
  }
}

class TracedRequestTest : public testing::Test {
 protected:
  // A response in the sink keeps the sink.
  void TearDown() override { sink_->Clear(); }
  std::unique_ptr<InferenceRequest> Bound(uint32_t level) {
    auto request = std::make_unique<InferenceRequest>();
    request->id = "me";
    request->SetSink(sink_);
    request->SetTrace(ShareTrace(NewTrace(diary_, level)));
    BindRequest(*request, model_);
    return request;
  }

  Diary diary_;
  std::shared_ptr<RecordingSink> sink_ = std::make_shared<RecordingSink>();
  std::shared_ptr<const ModelIdentity> model_ = MakeModel("name: \"m\" max_batch_size: 0");
};

TEST_F(TracedRequestTest, ComesBackOnceAfterRequestResponsesAndFactories) {
  auto request = Bound(kTraceTimestamps | kTraceTensors);
  std::shared_ptr<ResponseFactory> factory = request->response_factory();
  auto response = factory->NewResponse().value();
  Output* const output = response->AddOutput("B", tensor::DataType::kUint8, {2}).value();
  auto type = memory::MemoryType::kCpu;
  int64_t id = 0;
  ASSERT_TRUE(response->AllocateOutput(output, 2, &type, &id).ok());
  output->data[0] = 'o';
  output->data[1] = 'k';
  factory->Send(std::move(response), true);
  EXPECT_EQ(diary_.lines, Lines{"9 B=ok"});
  ReleaseRequest(std::move(request));
  EXPECT_EQ(diary_.lines, (Lines{"9 B=ok", "6@now"}));
  factory.reset();
  EXPECT_EQ(diary_.lines, (Lines{"9 B=ok", "6@now"})) << "the sink still has the response";
  sink_->Clear();
  EXPECT_EQ(diary_.lines, (Lines{"9 B=ok", "6@now", "released"}));
  ASSERT_EQ(diary_.released.size(), 1u);
  EXPECT_EQ(diary_.released[0]->model_name(), "m");
  EXPECT_EQ(diary_.released[0]->request_id(), "me");
}

TEST_F(TracedRequestTest, ARefusalReportsNoTensors) {
  auto request = Bound(kTraceTimestamps | kTraceTensors);
  RefuseRequest(std::move(request), base::Status::Unavailable("no"));
  sink_->Clear();
  EXPECT_EQ(diary_.lines, (Lines{"6@now", "released"}));
}

TEST_F(TracedRequestTest, AForgottenFinalResponseIsStillTraced) {
  auto request = Bound(kTraceTimestamps);
  ReleaseRequest(std::move(request));  // without a response: the factory answers
  sink_->Clear();
  EXPECT_EQ(diary_.lines, (Lines{"6@now", "released"}));
}

TEST_F(TracedRequestTest, AFailedSubmissionGivesItBack) {
  auto request = Bound(kTraceTimestamps);
  request->response_factory()->Disarm();
  request->Unbind();
  EXPECT_EQ(diary_.lines, Lines{"released"});
}

TEST_F(TracedRequestTest, TheQueueIsStampedOnce) {
  auto request = Bound(kTraceTimestamps);
  request->times.start_ns = 3;
  request->TraceSubmission(5);
  request->StampQueueStart(6);
  EXPECT_EQ(request->times.queue_ns, 5u);
  EXPECT_EQ(diary_.lines, (Lines{"0@3", "1@5"}));
  InferenceRequest plain;
  plain.StampQueueStart(6);
  EXPECT_EQ(plain.times.queue_ns, 6u);
  RefuseRequest(std::move(request), base::Status::Unavailable("no"));
}

TEST_F(TracedRequestTest, AStepHasAChildOfItsTrace) {
  auto whole = Bound(kTraceTimestamps);
  InferenceRequest step;
  TraceStep(*whole, step);
  ASSERT_NE(step.trace(), nullptr);
  EXPECT_EQ(step.trace()->parent_id(), whole->trace()->id());
  InferenceRequest untraced;
  InferenceRequest other;
  TraceStep(untraced, other);
  EXPECT_EQ(other.trace(), nullptr);
  RefuseRequest(std::move(whole), base::Status::Unavailable("no"));
}

}  // namespace
}  // namespace nereid::request
