// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <utility>

#include "request/binding.h"
#include "request/response_factory.h"
#include "request/testing/make_model.h"
#include "request/testing/recording_sink.h"
#include "rollout/shadow_request.h"
#include "rollout/shadow_traffic.h"

namespace nereid::rollout {
namespace {

using request::InferenceRequest;
using request::InferenceResponse;
using tensor::DataType;

constexpr char kModel[] =
    "name: \"m\" backend: \"b\" input { name: \"IN\" data_type: TYPE_FP32 dims: [ 1 ] } "
    "output { name: \"OUT\" data_type: TYPE_FP32 dims: [ 1 ] }";

class ShadowTest : public ::testing::Test {
 protected:
  std::shared_ptr<ShadowTraffic> Begin(uint32_t max_in_flight = 2) {
    Shadow rule{{"2", 2}, kParts, max_in_flight, {}};
    return std::make_shared<ShadowTraffic>("m", rule, clock_, [this](std::function<void()> task) {
      if (full_) return false;
      tasks_.push_back(std::move(task));
      return true;
    });
  }
  void RunTasks() {
    while (!tasks_.empty()) {
      tasks_.front()();
      tasks_.pop_front();
    }
  }
  static Answer Of(float value) {
    auto bytes =
        std::make_shared<std::string>(reinterpret_cast<const char*>(&value), sizeof(value));
    return {{}, {{"OUT", DataType::kFp32, {1}, *bytes, bytes}}};
  }
  std::unique_ptr<InferenceRequest> Request(std::shared_ptr<request::ResponseSink> sink) {
    auto request = std::make_unique<InferenceRequest>();
    request->model_name = "m";
    request->id = "7";
    memory::HostBuffer buffer = memory::HostBuffer::Allocate(sizeof(float));
    const float value = 1.5;
    std::memcpy(buffer.data(), &value, sizeof(value));
    (*request->AddInput("IN", DataType::kFp32, {1}))->Append(buffer.data(), sizeof(value));
    request->Hold(std::move(buffer));
    request->SetSink(std::move(sink));
    return request;
  }
  /// Answers a request with one output of this value.
  void Respond(std::unique_ptr<InferenceRequest> request, float value) {
    request::BindRequest(*request, model_);
    const auto factory = request->response_factory();
    auto response = factory->NewResponse().value();
    request::Output* const output = response->AddOutput("OUT", DataType::kFp32, {1}).value();
    auto type = memory::MemoryType::kCpu;
    int64_t id = 0;
    ASSERT_TRUE(response->AllocateOutput(output, sizeof(value), &type, &id).ok());
    std::memcpy(output->data, &value, sizeof(value));
    factory->Send(std::move(response), true);
    request::ReleaseRequest(std::move(request));
  }

  base::FakeClock clock_;
  bool full_ = false;
  std::deque<std::function<void()>> tasks_;
  const std::shared_ptr<const request::ModelIdentity> model_ = request::MakeModel(kModel);
};

TEST_F(ShadowTest, AnswersAreComparedWhenBothAreThere) {
  const auto traffic = Begin();
  auto pair = traffic->Begin();
  pair->SetExpected(Of(1));
  EXPECT_TRUE(tasks_.empty());
  pair->SetActual(Of(1));
  ASSERT_EQ(tasks_.size(), 1u);
  pair.reset();
  EXPECT_EQ(traffic->Counts().in_flight, 1u);
  RunTasks();
  EXPECT_EQ(traffic->Counts().equal, 1u);
  EXPECT_EQ(traffic->Counts().in_flight, 0u);

  pair = traffic->Begin();
  pair->SetActual(Of(2));
  pair->SetExpected(Of(1));
  pair.reset();
  RunTasks();
  EXPECT_EQ(traffic->Counts().different, 1u);
  EXPECT_EQ(traffic->Counts().dropped, 0u);
  EXPECT_EQ(traffic->LoggedDifference(), "output 'OUT', element 0: 2 instead of 1");
}

TEST_F(ShadowTest, AnErrorOfTheShadowVersionIsAFailure) {
  const auto traffic = Begin();
  auto pair = traffic->Begin();
  Answer failed;
  failed.error = base::Status::Internal("broken");
  pair->SetActual(failed);
  pair->SetExpected(Of(1));
  pair.reset();
  RunTasks();
  EXPECT_EQ(traffic->Counts().failed, 1u);
  EXPECT_EQ(traffic->Counts().different, 0u);
  // Nothing can be compared with an error of the version that answers the client.
  pair = traffic->Begin();
  pair->SetExpected(failed);
  pair->SetActual(Of(1));
  pair.reset();
  EXPECT_TRUE(tasks_.empty());
  EXPECT_EQ(traffic->Counts().dropped, 1u);
}

TEST_F(ShadowTest, CopiesAreDroppedWhenBusy) {
  const auto traffic = Begin(/*max_in_flight=*/2);
  auto first = traffic->Begin();
  auto second = traffic->Begin();
  EXPECT_EQ(traffic->Begin(), nullptr);
  EXPECT_EQ(traffic->Counts().dropped, 1u);
  first.reset();
  EXPECT_EQ(traffic->Counts().dropped, 2u);
  full_ = true;
  second->SetExpected(Of(1));
  second->SetActual(Of(1));
  second.reset();
  EXPECT_EQ(traffic->Counts().dropped, 3u);
  EXPECT_EQ(traffic->Counts().in_flight, 0u);
  EXPECT_NE(traffic->Begin(), nullptr);
}

TEST_F(ShadowTest, ShareOfTheRequests) {
  Shadow rule{{"2", 2}, 100, 1, {}};
  const ShadowTraffic traffic("m", rule, clock_, nullptr);
  EXPECT_TRUE(traffic.IsSelected(99));
  EXPECT_FALSE(traffic.IsSelected(100));
  EXPECT_TRUE(traffic.IsSelected(10'099));
}

TEST_F(ShadowTest, ACopySharesTheInputsAndOutlivesTheRequest) {
  const auto traffic = Begin();
  auto sink = std::make_shared<request::RecordingSink>();
  auto request = Request(sink);
  request->parameters = {{"p", int64_t{1}}};
  request->model_label = "stable";
  auto pair = traffic->Begin();
  auto copy = CopyForShadow(*request, pair);
  ASSERT_NE(copy, nullptr);
  EXPECT_EQ(copy->id, "7");
  EXPECT_EQ(copy->model_label, "");
  EXPECT_EQ(copy->parameters.size(), 1u);
  ASSERT_EQ(copy->inputs().size(), 1u);
  EXPECT_EQ(copy->inputs()[0].pieces[0].data, request->inputs()[0].pieces[0].data);
  request.reset();
  float value = 0;
  std::memcpy(&value, copy->inputs()[0].pieces[0].data, sizeof(value));
  EXPECT_EQ(value, 1.5);
  pair->SetExpected(Of(3));
  pair.reset();
  Respond(std::move(copy), 3);
  RunTasks();
  EXPECT_EQ(traffic->Counts().equal, 1u);
  EXPECT_EQ(sink->finals(), 0u);
}

TEST_F(ShadowTest, ARawRequestStaysRaw) {
  const auto traffic = Begin();
  InferenceRequest request;
  ASSERT_TRUE(request.AddRawInput("raw").ok());
  const auto copy = CopyForShadow(request, traffic->Begin());
  ASSERT_NE(copy, nullptr);
  EXPECT_TRUE(copy->inputs().is_raw());
}

TEST_F(ShadowTest, TensorsInSharedMemoryAreNotCopied) {
  const auto traffic = Begin();
  InferenceRequest request;
  request.shared_tensors = std::make_unique<const request::SharedTensors>();
  EXPECT_EQ(CopyForShadow(request, traffic->Begin()), nullptr);
  EXPECT_EQ(traffic->Counts().dropped, 1u);
}

/// Gives the answer to a pair and passes the response on.
class SharingSink final : public request::RecordingSink {
 public:
  void Send(std::unique_ptr<InferenceResponse> response, bool final) noexcept override {
    answer = ShareAnswer(*response);
    seen = response->outputs()[0]->data;
    request::RecordingSink::Send(std::move(response), final);
  }
  std::optional<Answer> answer;
  const char* seen = nullptr;
};

TEST_F(ShadowTest, ASharedAnswerOutlivesTheResponse) {
  const auto sink = std::make_shared<SharingSink>();
  Respond(Request(sink), 2.5);
  ASSERT_TRUE(sink->answer.has_value());
  ASSERT_EQ(sink->answer->outputs.size(), 1u);
  EXPECT_EQ(sink->answer->outputs[0].bytes.data(), sink->seen);
  sink->Clear();  // destroys the response
  float value = 0;
  std::memcpy(&value, sink->answer->outputs[0].bytes.data(), sizeof(value));
  EXPECT_EQ(value, 2.5);
}

}  // namespace
}  // namespace nereid::rollout
