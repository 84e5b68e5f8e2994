// SPDX-License-Identifier: Apache-2.0
// The driver, with members that answer at once, later, wrongly or never.
#include "ensemble/ensemble_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <thread>

#include "base/byte_budget.h"
#include "ensemble/testing/make_plan.h"
#include "ensemble/testing/member_version.h"
#include "request/binding.h"
#include "request/response_factory.h"
#include "request/testing/make_model.h"
#include "request/testing/recording_sink.h"

namespace nereid::ensemble {
namespace {

using base::Status;
using base::StatusCode;
using request::InferenceRequest;
using ::testing::HasSubstr;
using RequestPtr = std::unique_ptr<InferenceRequest>;

/// A model that copies the bytes of its first input to each output.
class FakeVersion final : public MemberVersion {
 public:
  explicit FakeVersion(const std::string& text) : MemberVersion(text) {}

  Status Enqueue(RequestPtr& request) override {
    ++requests;
    if (on_request) on_request();
    if (!refusal.ok()) return refusal;
    if (keeps) {
      kept.push_back(std::move(request));
    } else {
      Answer(std::move(request));
    }
    return Status::Ok();
  }
  void AnswerKept() {
    RequestPtr request = std::move(kept.front());
    kept.pop_front();
    Answer(std::move(request));
  }

  std::function<void()> on_request;
  bool keeps = false;
  Status refusal, failure;
  int responses = 1;
  bool wrong_type = false;
  tensor::Shape shape = {1};  // of what it answers
  std::deque<RequestPtr> kept;
  int requests = 0;
  uint64_t last_priority = 0;
  std::string last_id;
  tensor::Shape last_shape;  // of the first input

 private:
  void Answer(RequestPtr request) {
    last_id = request->id;
    last_shape = request->inputs().at(0).shape;
    last_priority = request->priority;
    const auto factory = request->response_factory();
    if (!failure.ok()) {
      factory->SendError(failure);
    } else {
      for (int i = 0; i < responses; ++i) SendCopy(*request, *factory);
      factory->SendFinal();
    }
    const auto sink = request->sink();
    request->Unbind();
    sink->RequestReleased(std::move(request));
  }
  void SendCopy(const InferenceRequest& request, request::ResponseFactory& factory) {
    auto response = std::move(factory.NewResponse()).value();
    for (const std::string& name : request.requested_outputs) {
      const auto type = wrong_type ? tensor::DataType::kFp32 : tensor::DataType::kInt32;
      auto* output = std::move(response->AddOutput(name, type, shape)).value();
      auto memory = memory::MemoryType::kCpu;
      int64_t id = 0;
      ASSERT_TRUE(response->AllocateOutput(output, 4, &memory, &id).ok());
      std::copy_n(request.inputs().at(0).pieces.at(0).data, 4, output->data);
    }
    factory.Send(std::move(response), false);
  }
};

class FakeObserver final : public EnsembleObserver {
 public:
  void OnAnswer(const InferenceRequest& request, const Status& end) override {
    const auto& sink = static_cast<const request::RecordingSink&>(*request.sink());
    EXPECT_EQ(sink.finals(), ends.size()) << "an answer is counted before it is sent";
    ends.push_back(end);
  }
  void OnEnd(const InferenceRequest&, const request::ComputeTimes&) override { ++times; }
  std::vector<Status> ends;
  size_t times = 0;
};

class EnsembleRequestTest : public ::testing::Test, private MemberDirectory {
 protected:
  void TearDown() override {
    for (auto& [name, version] : versions_) version->kept.clear();
    sink_->Clear();
  }

  void Make(const std::vector<PlannedStep>& steps, size_t limit = 100) {
    plan_.emplace(MakePlan(steps));
    model_ = request::MakeModel(EnsembleText(steps));
    for (const PlannedStep& step : steps) {
      std::string text = "name: \"" + step.model + "\" ";
      for (const auto& [kind, names] :
           {std::pair{"input", &step.inputs}, std::pair{"output", &step.outputs}}) {
        for (const std::string& name : *names) {
          text +=
              std::string(kind) + " { name: \"" + name + "\" data_type: TYPE_INT32 dims: [ 1 ] }";
        }
      }
      if (step.model[0] == 'D') text += " model_transaction_policy { decoupled: true }";
      versions_[step.model] = std::make_unique<FakeVersion>(text);
      limits_.push_back(std::make_unique<StepLimit>(limit));
    }
    parts_.emplace(EnsembleParts{*plan_, *this, limits_, timers_, clock_, observer_});
  }
  std::shared_ptr<request::Cancellation> Submit(std::vector<std::string> outputs = {"y"}) {
    auto request = std::make_unique<InferenceRequest>();
    request->id = "seven";
    request->priority = 3;
    request->requested_outputs = std::move(outputs);
    request->SetSink(sink_);
    auto added = request->AddInput("x", tensor::DataType::kInt32, {1});
    (*added)->Append(&number_, 4);
    (*added)->model_shape = model_shape_;
    if (trace_ != nullptr) request->SetTrace(trace_);
    request::BindRequest(*request, model_);
    auto cancellation = request->cancellation();
    EnsembleRequest::Start(*parts_, std::move(request));
    return cancellation;
  }
  FakeVersion& Member(const std::string& name) { return *versions_.at(name); }
  /// That the only request has ended once, with this failure.
  void ExpectFailure(StatusCode code, const std::string& text) {
    EXPECT_EQ(sink_->finals(), 1u);
    EXPECT_EQ(sink_->released(), 1u);
    ASSERT_EQ(sink_->errors().size(), 1u);
    EXPECT_EQ(sink_->errors()[0].code(), code);
    EXPECT_EQ(sink_->errors()[0].message(), text);
    ASSERT_EQ(observer_.ends.size(), 1u);
    EXPECT_EQ(observer_.ends[0].code(), code);
  }

  base::Result<ensemble::Member> Find(const std::string&, const std::string& name, int64_t,
                                      const request::RequestFields*) const override {
    const auto found = versions_.find(name);
    if (found == versions_.end()) return Status::NotFound("'" + name + "' is not found");
    return ensemble::Member{found->second->shared_identity(), found->second.get()};
  }

  base::FakeClock clock_;
  base::ManualTimerQueue timers_{clock_};
  FakeObserver observer_;
  std::shared_ptr<request::RecordingSink> sink_ = std::make_shared<request::RecordingSink>();
  std::map<std::string, std::unique_ptr<FakeVersion>> versions_;
  std::optional<EnsemblePlan> plan_;
  std::shared_ptr<const request::ModelIdentity> model_;
  std::vector<std::unique_ptr<StepLimit>> limits_;
  std::optional<EnsembleParts> parts_;
  const int number_ = 42;
  tensor::Shape model_shape_ = {1};  // of the ensemble's input, reshaped
  std::shared_ptr<request::Trace> trace_;
};

TEST_F(EnsembleRequestTest, TheBytesOfTheLastStepAreTheAnswer) {
  Make({{"a", {"x"}, {"t"}}, {"b", {"t"}, {"y"}}});
  Submit();
  ASSERT_EQ(sink_->finals(), 1u);
  ASSERT_EQ(sink_->released(), 1u);
  const auto& outputs = sink_->responses().at(0)->outputs();
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_EQ(outputs[0]->name, "y");
  EXPECT_EQ(*reinterpret_cast<const int*>(outputs[0]->data), 42);
  EXPECT_EQ(sink_->responses()[0]->parameters().size(), 3u);
  EXPECT_EQ(Member("b").last_id, "seven");
  EXPECT_EQ(Member("b").last_priority, 3u);
  ASSERT_EQ(observer_.ends.size(), 1u);
  EXPECT_TRUE(observer_.ends[0].ok());
  EXPECT_EQ(observer_.times, 1u);
}

TEST_F(EnsembleRequestTest, OneRequestHasTwoReferencesToItsModel) {
  Make({{"a", {"x"}, {"y"}}});
  Member("a").keeps = true;
  const long idle = model_.use_count();
  Submit();
  EXPECT_EQ(model_.use_count(), idle + 2) << "the server counts requests by them";
  Member("a").AnswerKept();
  sink_->Clear();
  EXPECT_EQ(model_.use_count(), idle);
}

/// Counts what is reported of the request's own trace.
class CountingListener final : public request::TraceListener {
 public:
  void OnActivity(request::Trace& trace, request::TraceActivity activity,
                  uint64_t) noexcept override {
    if (trace.parent_id() == 0 && activity == request::TraceActivity::kRequestEnd) ++ends;
  }
  void OnCustomActivity(request::Trace&, std::string_view, uint64_t) noexcept override {}
  void OnTensor(request::Trace&, request::TraceActivity,
                const request::TracedTensor&) noexcept override {}
  void OnReleased(std::unique_ptr<request::Trace>) noexcept override { ++released; }

  int ends = 0;
  int released = 0;
};

TEST_F(EnsembleRequestTest, ItsTraceHasAnEnd) {
  Make({{"a", {"x"}, {"t"}}, {"b", {"t"}, {"y"}}});
  const auto listener = std::make_shared<CountingListener>();
  trace_ = request::ShareTrace(
      std::make_unique<request::Trace>(listener, request::kTraceTimestamps, /*parent_id=*/0));
  Submit();
  trace_.reset();
  EXPECT_EQ(listener->ends, 1);
  sink_->Clear();
  EXPECT_EQ(listener->released, 3);
}

TEST_F(EnsembleRequestTest, ALongChainOfMembersThatAnswerAtOnceDoesNotNest) {
  std::vector<PlannedStep> steps;
  for (int i = 0; i < 2000; ++i) {
    const std::string to = i == 1999 ? "y" : "t" + std::to_string(i);
    steps.push_back({"m" + std::to_string(i), {i == 0 ? "x" : "t" + std::to_string(i - 1)}, {to}});
  }
  Make(steps);
  Submit();
  EXPECT_EQ(sink_->finals(), 1u);
  EXPECT_TRUE(sink_->errors().at(0).ok());
}

TEST_F(EnsembleRequestTest, AFailureNamesTheStepAndWaitsForTheOthers) {
  Make({{"a", {"x"}, {"t"}}, {"b", {"x"}, {"u"}}, {"c", {"t", "u"}, {"y"}}});
  Member("a").failure = Status::Unavailable("busy");
  Member("a").keeps = Member("b").keeps = true;
  Submit();
  Member("a").AnswerKept();
  EXPECT_EQ(sink_->finals(), 0u);
  Member("b").AnswerKept();
  ExpectFailure(StatusCode::kUnavailable, "in ensemble 'e', busy (step 0, model 'a')");
  EXPECT_EQ(Member("c").requests, 0);
}

TEST_F(EnsembleRequestTest, ARefusalIsAFailureToo) {
  Make({{"a", {"x"}, {"y"}}});
  Member("a").refusal = Status::Unavailable("model 'a' is full");
  Submit();
  ExpectFailure(StatusCode::kUnavailable, "in ensemble 'e', model 'a' is full");
}

TEST_F(EnsembleRequestTest, AMemberThatIsGone) {
  Make({{"a", {"x"}, {"y"}}});
  versions_.clear();
  Submit();
  ExpectFailure(StatusCode::kNotFound, "in ensemble 'e', 'a' is not found");
}

TEST_F(EnsembleRequestTest, AnAnswerOfTheWrongType) {
  Make({{"a", {"x"}, {"t"}}, {"b", {"t"}, {"y"}}});
  Member("b").wrong_type = true;
  Submit();
  ExpectFailure(StatusCode::kInternal,
                "in ensemble 'e', output 'y' has the data type FP32, expected INT32 (step 1, model "
                "'b')");
}

TEST_F(EnsembleRequestTest, AnAnswerOfAnotherShapeThanTheMemberDeclares) {
  Make({{"a", {"x"}, {"t"}}, {"b", {"t"}, {"y"}}});
  Member("a").shape = {1, 1};
  Submit();
  ExpectFailure(StatusCode::kInternal,
                "in ensemble 'e', output 't' for the tensor 't' has the shape [1,1], expected [1] "
                "(step 0, model 'a')");
  EXPECT_EQ(Member("b").requests, 0);
}

TEST_F(EnsembleRequestTest, AnAnswerThatTheNextMemberRefusesIsNoFaultOfTheClient) {
  Make({{"a", {"x"}, {"t"}}, {"b", {"t"}, {"y"}}});
  versions_["a"] = std::make_unique<FakeVersion>(
      "name: \"a\" input { name: \"x\" data_type: TYPE_INT32 dims: [ 1 ] } output { name: \"t\" "
      "data_type: TYPE_INT32 dims: [ -1 ] }");
  Member("a").shape = {2};
  Submit();
  ASSERT_EQ(sink_->errors().size(), 1u);
  EXPECT_EQ(sink_->errors()[0].code(), StatusCode::kInternal);
  EXPECT_NE(sink_->errors()[0].message().find("unexpected shape for input 't'"), std::string::npos);
  EXPECT_EQ(Member("b").requests, 0);
}

TEST_F(EnsembleRequestTest, AnAnswerOfAnotherShapeThanTheEnsembleDeclares) {
  Make({{"a", {"x"}, {"t"}}, {"b", {"t"}, {"y"}}});
  versions_["b"] = std::make_unique<FakeVersion>(
      "name: \"b\" input { name: \"t\" data_type: TYPE_INT32 dims: [ 1 ] } output { name: \"y\" "
      "data_type: TYPE_INT32 dims: [ -1 ] }");
  Member("b").shape = {0};
  Submit();
  ExpectFailure(StatusCode::kInternal,
                "in ensemble 'e', output 'y' has the shape [0], expected [1] (step 1, model 'b')");
}

TEST_F(EnsembleRequestTest, TheStepsSeeTheReshapesOfTheEnsemblesOwnTensors) {
  Make({{"a", {"x"}, {"y"}}});
  versions_["a"] = std::make_unique<FakeVersion>(
      "name: \"a\" input { name: \"x\" data_type: TYPE_INT32 dims: [ 1, -1 ] } output { name: "
      "\"y\" data_type: TYPE_INT32 dims: [ 1, -1, 1 ] }");
  Member("a").shape = {1, 1, 1};
  model_ = request::MakeModel(
      "name: \"e\" input { name: \"x\" data_type: TYPE_INT32 dims: [ -1 ] reshape { shape: [ 1, -1 "
      "] } } output { name: \"y\" data_type: TYPE_INT32 dims: [ -1 ] reshape { shape: [ 1, -1, 1 ] "
      "} }");
  model_shape_ = {1, 1};
  Submit();
  ASSERT_TRUE(sink_->errors().at(0).ok()) << sink_->errors()[0].message();
  EXPECT_EQ(Member("a").last_shape, (tensor::Shape{1, 1}));
  EXPECT_EQ(sink_->responses().at(0)->outputs().at(0)->shape, (tensor::Shape{1}));
}

TEST_F(EnsembleRequestTest, TwoAnswersAndNone) {
  Make({{"a", {"x"}, {"y"}}});
  Member("a").responses = 2;
  Submit();
  ExpectFailure(StatusCode::kInternal,
                "in ensemble 'e', sent more than one response, although it is not decoupled (step "
                "0, model 'a')");
  sink_->Clear();
  sink_ = std::make_shared<request::RecordingSink>();
  observer_.ends.clear();
  Member("a").responses = 0;
  Submit();
  ExpectFailure(StatusCode::kInternal,
                "in ensemble 'e', [request id: seven] unexpected deadlock, at least one output is "
                "not set while no more ensemble steps can be made: step 0, model 'a', has ended "
                "without a response");
}

TEST_F(EnsembleRequestTest, EveryResponseOfADecoupledMemberIsAnswered) {
  Make({{"D", {"x"}, {"t"}}, {"b", {"t"}, {"y"}}});
  Member("D").responses = 3;
  Submit();
  EXPECT_EQ(sink_->finals(), 1u);
  EXPECT_EQ(sink_->responses().size(), 3u);
  EXPECT_EQ(Member("b").requests, 3);
}

TEST_F(EnsembleRequestTest, CancellingReachesTheStepsThatRunAndStartsNoOther) {
  Make({{"a", {"x"}, {"t"}}, {"b", {"t"}, {"y"}}});
  Member("a").keeps = true;
  const auto cancellation = Submit();
  cancellation->Cancel();
  EXPECT_TRUE(Member("a").kept.front()->IsCancelled());
  EXPECT_EQ(sink_->finals(), 0u);
  Member("a").AnswerKept();
  ExpectFailure(StatusCode::kCancelled,
                "in ensemble 'e', [request id: seven] Request was cancelled");
  EXPECT_EQ(Member("b").requests, 0);
}

TEST_F(EnsembleRequestTest, NoMoreThanTheBoundAreUnderWay) {
  Make({{"a", {"x"}, {"y"}}}, /*limit=*/2);
  Member("a").keeps = true;
  for (int i = 0; i < 5; ++i) Submit();
  EXPECT_EQ(Member("a").kept.size(), 2u);
  Member("a").AnswerKept();
  EXPECT_EQ(Member("a").requests, 3);
  while (!Member("a").kept.empty()) Member("a").AnswerKept();
  EXPECT_EQ(Member("a").requests, 5);
  EXPECT_EQ(sink_->finals(), 5u);
}

TEST_F(EnsembleRequestTest, ManyThatWaitForTheirTurnDoNotNest) {
  Make({{"a", {"x"}, {"y"}}}, /*limit=*/1);
  Member("a").keeps = true;
  for (int i = 0; i < 20000; ++i) Submit();
  Member("a").keeps = false;  // from now on it answers inside the call
  Member("a").AnswerKept();
  EXPECT_EQ(sink_->finals(), 20000u);
}

TEST_F(EnsembleRequestTest, AnEventLoopLeavesTheRestOfALongTurnToTheTimers) {
  constexpr int kMany = 1'000;
  Make({{"D", {"x"}, {"t"}}, {"b", {"t"}, {"y"}}}, kMany);
  versions_["D"]->responses = kMany;
  versions_["b"]->on_request = [this] { clock_.Advance(100'000); };
  std::thread loop([this] {
    base::ForbidBlocking();
    Submit();
  });
  loop.join();
  EXPECT_LT(versions_["b"]->requests, 100);
  EXPECT_THAT(observer_.ends, ::testing::IsEmpty());
  EXPECT_GT(timers_.RunDue(), 0);
  EXPECT_EQ(versions_["b"]->requests, kMany);
  EXPECT_EQ(sink_->finals(), 1u);
  EXPECT_THAT(observer_.ends, ::testing::SizeIs(1));
}

TEST_F(EnsembleRequestTest, WhoeverWaitsForItsTurnCanBeCancelled) {
  Make({{"a", {"x"}, {"y"}}}, /*limit=*/1);
  Member("a").keeps = true;
  Submit();
  const auto cancellation = Submit();
  cancellation->Cancel();
  EXPECT_EQ(sink_->finals(), 0u);  // not inside the cancellation
  timers_.RunDue();
  EXPECT_EQ(sink_->finals(), 1u);
  EXPECT_EQ(sink_->errors().at(0).code(), StatusCode::kCancelled);
  Member("a").AnswerKept();
  EXPECT_EQ(sink_->finals(), 2u);
  EXPECT_EQ(Member("a").requests, 1);
}

}  // namespace
}  // namespace nereid::ensemble
