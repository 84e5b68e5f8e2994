// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
    request->Bind(model_);
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

TEST(RequestTest, InputNamesAreUnique) {
  InferenceRequest request;
  ASSERT_TRUE(request.AddInput("A", tensor::DataType::kBool, {1}).ok());
  EXPECT_THAT(request.AddInput("A", tensor::DataType::kBool, {1}).status().message(),
              ::testing::HasSubstr("input 'A' already exists in request"));
  EXPECT_FALSE(request.AddRawInput("x").ok());
  EXPECT_TRUE(request.RemoveInput("A").ok());
  EXPECT_FALSE(request.RemoveInput("A").ok());
  EXPECT_TRUE(request.AddRawInput("x").ok());
  EXPECT_FALSE(request.AddInput("A", tensor::DataType::kBool, {1}).ok());
}

}  // namespace
}  // namespace nereid::request
