// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <future>
#include <thread>
#include <vector>

#include "base/byte_budget.h"
#include "base/testing/failing_allocation.h"
#include "request/binding.h"
#include "request/classify.h"
#include "request/output_shape.h"
#include "request/response_factory.h"
#include "request/testing/make_model.h"
#include "request/testing/recording_sink.h"

namespace nereid::request {
namespace {

class ResponseTest : public ::testing::Test {
 protected:
  ~ResponseTest() override { sink_->Clear(); }
  std::unique_ptr<InferenceRequest> NewRequest() {
    auto request = std::make_unique<InferenceRequest>();
    request->id = "7";
    request->SetSink(sink_);
    BindRequest(*request, model_);
    return request;
  }
  std::shared_ptr<RecordingSink> sink_ = std::make_shared<RecordingSink>();
  std::shared_ptr<const ModelIdentity> model_ = MakeModel(
      R"(name: "m" max_batch_size: 4
         output { name: "R" data_type: TYPE_FP32 dims: [ 2, -1, 3 ] reshape { shape: [ 6, -1 ] } }
         output { name: "P" data_type: TYPE_FP32 dims: [ 3 ] })");
};

TEST_F(ResponseTest, ARequestThatIsDroppedIsStillAnswered) {
  NewRequest().reset();
  ASSERT_EQ(sink_->finals(), 1u);
  EXPECT_EQ(sink_->errors()[0].code(), base::StatusCode::kInternal);
  EXPECT_THAT(sink_->errors()[0].message(), ::testing::HasSubstr("without sending its final"));
}

TEST_F(ResponseTest, OnlyOneFinalPasses) {
  auto request = NewRequest();
  request->response_factory()->SendFinal();
  request->response_factory()->SendFinal();
  request->response_factory()->SendError(base::Status::Internal("late"));
  EXPECT_EQ(sink_->finals(), 1u);
  EXPECT_TRUE(sink_->errors().empty());
}

TEST_F(ResponseTest, AnErrorIsRememberedBeforeWithAndAfterTheFinal) {
  const auto error = [](const std::shared_ptr<ResponseFactory>& factory) {
    auto response = std::move(factory->NewResponse()).value();
    response->SetError(base::Status::Internal("e"));
    return response;
  };
  {
    const auto request = NewRequest();
    const auto factory = request->response_factory();
    EXPECT_FALSE(factory->HasFailed());
    factory->Send(error(factory), false);
    EXPECT_TRUE(factory->HasFailed());
    EXPECT_FALSE(factory->IsFinalSent());
    factory->SendFinal();
    EXPECT_TRUE(factory->HasFailed());
    EXPECT_TRUE(factory->IsFinalSent());
  }
  {
    const auto request = NewRequest();
    const auto factory = request->response_factory();
    factory->SendError(base::Status::Internal("e"));
    EXPECT_TRUE(factory->HasFailed() && factory->IsFinalSent());
  }
  {
    const auto request = NewRequest();
    const auto factory = request->response_factory();
    factory->SendFinal();
    EXPECT_FALSE(factory->HasFailed());
    factory->SendError(base::Status::Internal("late"));
    EXPECT_TRUE(factory->HasFailed());
  }
  EXPECT_EQ(sink_->finals(), 3u);
}

TEST_F(ResponseTest, LentBytesThatMayChangeAreCopied) {
  char bytes[] = "abc";
  for (const bool may_change : {false, true}) {
    const auto request = NewRequest();
    auto response = std::move(request->response_factory()->NewResponse()).value();
    Output* const output = *response->AddOutput("P", tensor::DataType::kUint8, {3});
    auto owner = std::make_shared<int>(0);
    const std::weak_ptr<int> held = owner;
    LentBytes lent{bytes, 3, std::move(owner)};
    lent.may_change = may_change;
    ASSERT_TRUE(response->LendOutput(output, std::move(lent)).ok());
    EXPECT_EQ(held.expired(), may_change);
    EXPECT_EQ(output->data == bytes, !may_change);
    EXPECT_EQ(output->MessageBytes(), "abc");
    EXPECT_FALSE(response->LendOutput(output, {bytes, 3}).ok()) << "it has its bytes";
    response.reset();
    EXPECT_TRUE(held.expired());
    request->response_factory()->Disarm();
  }
}

TEST_F(ResponseTest, TheFactoryKnowsWhoHasTheRequest) {
  const auto request = NewRequest();
  ResponseFactory& factory = *request->response_factory();
  using Custody = ResponseFactory::Custody;
  factory.MarkHandedOut();
  EXPECT_EQ(factory.execution(), 0u);
  EXPECT_EQ(factory.CustodySince(0), Custody::kHandedOut);
  factory.MarkRescheduled();
  EXPECT_EQ(factory.CustodySince(0), Custody::kRescheduled);
  factory.MarkHandedOut();
  EXPECT_EQ(factory.execution(), 1u);
  EXPECT_EQ(factory.CustodySince(1), Custody::kHandedOut);
  EXPECT_EQ(factory.CustodySince(0), Custody::kRescheduled) << "a later execution has it";
  factory.MarkRescheduled();
  factory.MarkReleased();
  EXPECT_EQ(factory.CustodySince(1), Custody::kReleased);
  EXPECT_EQ(factory.CustodySince(0), Custody::kRescheduled);
  factory.Disarm();
}

TEST_F(ResponseTest, SeveralThreadsSendAndNothingComesAfterTheFinal) {
  class CountingSink final : public ResponseSink {
   public:
    void Send(std::unique_ptr<InferenceResponse> response, bool final) noexcept override {
      EXPECT_FALSE(inside.exchange(true)) << "two at a time";
      EXPECT_EQ(finals, 0);
      responses += response != nullptr ? 1 : 0;
      finals += final ? 1 : 0;
      inside = false;
    }
    std::atomic<bool> inside{false};
    int responses = 0;  // one at a time
    int finals = 0;
  };
  const auto sink = std::make_shared<CountingSink>();
  auto request = std::make_unique<InferenceRequest>();
  request->SetSink(sink);
  BindRequest(*request, MakeModel(R"(name: "d" model_transaction_policy { decoupled: true })"));
  const auto factory = request->response_factory();
  request.reset();
  constexpr int kThreads = 4, kEach = 500;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < kEach; ++k) factory->Send(factory->NewResponse().value(), false);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sink->responses, kThreads * kEach);
  threads.clear();
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] { factory->Send(factory->NewResponse().value(), true); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sink->responses, kThreads * kEach + 1);
  EXPECT_EQ(sink->finals, 1);
}

TEST_F(ResponseTest, AResponseThatWaitsForItsTurnNeedsNoMemory) {
  /// Holds the first response until the test lets it go.
  class HoldingSink final : public ResponseSink {
   public:
    void Send(std::unique_ptr<InferenceResponse> response, bool final) noexcept override {
      if (count == 0) {
        begun.set_value();
        go_on.get_future().wait();
      }
      count += response != nullptr ? 1 : 0;
      finals += final ? 1 : 0;
    }
    std::promise<void> begun, go_on;
    size_t count = 0;
    int finals = 0;
  };
  const auto sink = std::make_shared<HoldingSink>();
  auto request = std::make_unique<InferenceRequest>();
  request->SetSink(sink);
  BindRequest(*request, MakeModel(R"(name: "d" model_transaction_policy { decoupled: true })"));
  const auto factory = request->response_factory();
  request.reset();
  std::thread first([&] { factory->Send(factory->NewResponse().value(), false); });
  sink->begun.get_future().wait();
  constexpr size_t kWaiting = 500;
  std::thread loop([&] {
    base::ForbidBlocking();  // such a thread queues as much as it likes
    std::vector<std::unique_ptr<InferenceResponse>> responses;
    for (size_t i = 0; i < kWaiting; ++i) responses.push_back(factory->NewResponse().value());
    const base::testing::FailingAllocation failure;
    for (auto& response : responses) factory->Send(std::move(response), false);
    factory->SendFinal();
  });
  loop.join();
  sink->go_on.set_value();
  first.join();
  EXPECT_EQ(sink->count, 1 + kWaiting);
  EXPECT_EQ(sink->finals, 1);
}

TEST_F(ResponseTest, AFactoryOutlivesItsRequest) {
  auto request = NewRequest();
  auto factory = request->response_factory();
  request.reset();
  EXPECT_EQ(sink_->finals(), 0u);
  auto response = factory->NewResponse();
  ASSERT_TRUE(response.ok());
  EXPECT_EQ((*response)->id(), "7");
  factory->Send(std::move(response).value(), true);
  factory.reset();
  EXPECT_EQ(sink_->finals(), 1u);
  EXPECT_TRUE(sink_->errors()[0].ok());
}

TEST_F(ResponseTest, RefusalAnswersAndReleases) {
  RefuseRequest(NewRequest(), base::Status::Unavailable("no"));
  EXPECT_EQ(sink_->finals(), 1u);
  EXPECT_EQ(sink_->released(), 1u);
  EXPECT_EQ(sink_->errors()[0].message(), "no");
}

TEST_F(ResponseTest, AnOutputIsAllocatedOnce) {
  auto request = NewRequest();
  auto response = request->response_factory()->NewResponse().value();
  Output* output = response->AddOutput("P", tensor::DataType::kFp32, {1, 3}).value();
  auto type = memory::MemoryType::kGpu;
  int64_t id = 3;
  ASSERT_TRUE(response->AllocateOutput(output, 12, &type, &id).ok());
  EXPECT_EQ(type, memory::MemoryType::kCpu);
  EXPECT_EQ(id, 0);
  EXPECT_NE(output->data, nullptr);
  EXPECT_EQ(response->AllocateOutput(output, 12, &type, &id).message(),
            "allocated buffer for output 'P' already exists");
  EXPECT_EQ(response->AddOutput("P", tensor::DataType::kFp32, {}).status().code(),
            base::StatusCode::kAlreadyExists);
  request->response_factory()->Disarm();
}

TEST_F(ResponseTest, ClassesTakeThePlaceOfATensor) {
  auto request = std::make_unique<InferenceRequest>();
  request->SetSink(sink_);
  BindRequest(*request, MakeModel(R"(name: "m" max_batch_size: 4)", {{"P", {"zero", "", "two"}}}));
  const auto factory = request->response_factory();
  auto response = std::move(factory->NewResponse()).value();
  for (const char* name : {"P", "Q"}) {
    Output* const output = *response->AddOutput(name, tensor::DataType::kUint8, {2, 3});
    memory::MemoryType type = memory::MemoryType::kCpu;
    int64_t id = 0;
    ASSERT_TRUE(response->AllocateOutput(output, 6, &type, &id).ok());
    std::memcpy(output->data, "\1\2\3\6\5\4", 6);
  }
  ASSERT_TRUE(Classify({}, response.get()).ok());
  EXPECT_EQ(response->outputs()[0]->type, tensor::DataType::kUint8);
  const RequestedClasses requested[] = {{"absent", 1}, {"P", 1}};
  ASSERT_TRUE(Classify(requested, response.get()).ok());
  const Output& classes = *response->outputs()[0];
  EXPECT_EQ(classes.type, tensor::DataType::kBytes);
  EXPECT_EQ(classes.shape, (tensor::Shape{2, 1}));
  EXPECT_EQ(std::string_view(classes.data, classes.size),
            std::string_view("\7\0\0\0003:2:two\x8\0\0\0006:0:zero", 23));
  EXPECT_EQ(response->outputs()[1]->type, tensor::DataType::kUint8);
  EXPECT_EQ(Classify(requested, response.get()).message(),
            "class result not available for output due to unsupported type 'BYTES'");
  response.reset();
  factory->Disarm();
}

TEST_F(ResponseTest, OutputShapesAreReshapedBack) {
  const auto& config = *model_->config;
  EXPECT_EQ(*ClientShape(config, "R", tensor::Shape{4, 6, 5}), (tensor::Shape{4, 2, 5, 3}));
  EXPECT_EQ(*ClientShape(config, "P", tensor::Shape{4, 3}), (tensor::Shape{4, 3}));
  EXPECT_EQ(*ClientShape(config, "unknown", tensor::Shape{}), tensor::Shape{});
  EXPECT_FALSE(ClientShape(config, "R", tensor::Shape{4, 7, 5}).ok());
  EXPECT_FALSE(ClientShape(config, "R", tensor::Shape{6}).ok());
  EXPECT_FALSE(ClientShape(config, "P", tensor::Shape{4, -3}).ok());
  EXPECT_FALSE(ClientShape(config, "P", tensor::Shape{int64_t{1} << 62, 8}).ok());
}

TEST(RequestTest, ErrorsOfInputsNameTheRequest) {
  InferenceRequest request;
  request.id = "9";
  ASSERT_TRUE(request.AddInput("A", tensor::DataType::kBool, {1}).ok());
  EXPECT_EQ(request.AddInput("A", tensor::DataType::kBool, {1}).status().message(),
            "[request id: 9] input 'A' already exists in request");
  EXPECT_EQ(request.AddRawInput("x").status().message(),
            "[request id: 9] raw input 'x' can't be added to request with other inputs");
  EXPECT_TRUE(request.RemoveInput("A").ok());
  EXPECT_EQ(request.RemoveInput("A").message(),
            "[request id: 9] input 'A' does not exist in request");
  EXPECT_TRUE(request.AddRawInput("x").ok());
  EXPECT_FALSE(request.AddInput("A", tensor::DataType::kBool, {1}).ok());
}

}  // namespace
}  // namespace nereid::request
