// SPDX-License-Identifier: Apache-2.0
// TRITONBACKEND_State* as a plug-in calls them, in the right order and in wrong ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "abi/error.h"
#include "request/binding.h"
#include "request/sequence_inputs.h"
#include "request/testing/make_model.h"
#include "request/testing/recording_sink.h"
#include "triton/core/tritonbackend.h"

namespace nereid::backend {
namespace {

using request::InferenceRequest;
using ::testing::HasSubstr;

std::string Text(TRITONSERVER_Error* error) { return abi::TakeStatus(error).message(); }

class StateFunctionsTest : public ::testing::Test {
 protected:
  StateFunctionsTest() {
    model_ = request::MakeModel(R"(
      name: "m" max_batch_size: 4
      input { name: "IN" data_type: TYPE_INT32 dims: [ 1 ] }
      sequence_batching { state { input_name: "S_IN" output_name: "S_OUT" data_type: TYPE_INT32
                                  dims: [ -1 ] } })");
    inputs_ = request::SequenceInputs::Create(model_->config, "/none").value();
    states_ = inputs_->NewStates();
    Begin(states_);
  }
  ~StateFunctionsTest() override {
    if (request_ != nullptr) End();
    sink_->Clear();
  }

  void Begin(std::shared_ptr<request::SequenceStates> states) {
    request_ = std::make_unique<InferenceRequest>();
    request_->model_name = "m";
    request_->SetSink(sink_);
    request::BindRequest(*request_, model_);
    EXPECT_TRUE(inputs_->Attach(*request_, std::move(states)).ok());
  }
  /// As the plug-in does it.
  void End() {
    request_->response_factory()->SendFinal();
    EXPECT_EQ(
        TRITONBACKEND_RequestRelease(Handle(request_.release()), TRITONSERVER_REQUEST_RELEASE_ALL),
        nullptr);
  }
  static TRITONBACKEND_Request* Handle(InferenceRequest* request) {
    return reinterpret_cast<TRITONBACKEND_Request*>(request);
  }
  std::string New(const char* name, TRITONSERVER_DataType type, std::vector<int64_t> shape) {
    return Text(TRITONBACKEND_StateNew(&state_, Handle(request_.get()), name, type, shape.data(),
                                       static_cast<uint32_t>(shape.size())));
  }
  std::string Buffer(uint64_t size) {
    type_ = TRITONSERVER_MEMORY_GPU;
    id_ = 3;
    return Text(TRITONBACKEND_StateBuffer(state_, &buffer_, size, &type_, &id_));
  }
  int32_t Value() {
    int32_t value = -1;
    const request::Input* input = request_->inputs().Find("S_IN");
    std::memcpy(&value, input->pieces.at(0).data, sizeof(value));
    return value;
  }

  std::shared_ptr<const request::ModelIdentity> model_;
  std::shared_ptr<request::SequenceInputs> inputs_;
  std::shared_ptr<request::SequenceStates> states_;
  std::shared_ptr<request::RecordingSink> sink_ = std::make_shared<request::RecordingSink>();
  std::unique_ptr<InferenceRequest> request_;
  TRITONBACKEND_State* state_ = nullptr;
  void* buffer_ = nullptr;
  TRITONSERVER_MemoryType type_ = TRITONSERVER_MEMORY_CPU;
  int64_t id_ = 0;
};

TEST_F(StateFunctionsTest, TheNextRequestGetsWhatThisOneWrote) {
  EXPECT_EQ(Value(), 0);
  ASSERT_EQ(New("S_OUT", TRITONSERVER_TYPE_INT32, {1, 1}), "");
  ASSERT_EQ(Buffer(4), "");
  EXPECT_EQ(type_, TRITONSERVER_MEMORY_CPU) << "whatever was wished for";
  EXPECT_EQ(id_, 0);
  *static_cast<int32_t*>(buffer_) = 42;
  TRITONSERVER_BufferAttributes* attributes = nullptr;
  ASSERT_EQ(Text(TRITONBACKEND_StateBufferAttributes(state_, &attributes)), "");
  size_t size = 0;
  ASSERT_EQ(Text(TRITONSERVER_BufferAttributesByteSize(attributes, &size)), "");
  EXPECT_EQ(size, 4u);
  ASSERT_EQ(Text(TRITONBACKEND_StateUpdate(state_)), "");
  End();
  Begin(states_);
  EXPECT_EQ(Value(), 42);
}

TEST_F(StateFunctionsTest, WrongOrderIsAnError) {
  ASSERT_EQ(New("S_OUT", TRITONSERVER_TYPE_INT32, {1, 1}), "");
  TRITONSERVER_BufferAttributes* attributes = nullptr;
  EXPECT_THAT(Text(TRITONBACKEND_StateBufferAttributes(state_, &attributes)),
              HasSubstr("no buffer yet"));
  EXPECT_THAT(Text(TRITONBACKEND_StateUpdate(state_)), HasSubstr("before it was given a buffer"));
  ASSERT_EQ(Buffer(4), "");
  EXPECT_THAT(Buffer(8), HasSubstr("has a buffer of 4 bytes"));
  ASSERT_EQ(Text(TRITONBACKEND_StateUpdate(state_)), "");
  EXPECT_THAT(Text(TRITONBACKEND_StateUpdate(state_)), HasSubstr("was updated already"));
}

TEST_F(StateFunctionsTest, WhatTheConfigurationDoesNotHave) {
  EXPECT_EQ(New("OTHER", TRITONSERVER_TYPE_INT32, {1, 1}),
            "state 'OTHER' is not a valid state name.");
  EXPECT_THAT(New("S_OUT", TRITONSERVER_TYPE_FP32, {1, 1}), HasSubstr("is written as 'FP32'"));
  EXPECT_THAT(New("S_OUT", static_cast<TRITONSERVER_DataType>(99), {1, 1}),
              HasSubstr("is written as '<invalid>'"));
  EXPECT_THAT(New("S_OUT", TRITONSERVER_TYPE_INT32, {1, 1, 1}), HasSubstr("with shape [1,1,1]"));
  End();
  Begin(nullptr);
  EXPECT_EQ(New("S_OUT", TRITONSERVER_TYPE_INT32, {1, 1}),
            "unable to add state 'S_OUT'. State configuration is missing for model 'm'.");
}

TEST_F(StateFunctionsTest, NullArguments) {
  EXPECT_THAT(Text(TRITONBACKEND_StateNew(nullptr, Handle(request_.get()), "S_OUT",
                                          TRITONSERVER_TYPE_INT32, nullptr, 0)),
              HasSubstr("state"));
  EXPECT_NE(
      Text(TRITONBACKEND_StateNew(&state_, nullptr, "S_OUT", TRITONSERVER_TYPE_INT32, nullptr, 0)),
      "");
  EXPECT_NE(Text(TRITONBACKEND_StateNew(&state_, Handle(request_.get()), nullptr,
                                        TRITONSERVER_TYPE_INT32, nullptr, 0)),
            "");
  EXPECT_NE(Text(TRITONBACKEND_StateNew(&state_, Handle(request_.get()), "S_OUT",
                                        TRITONSERVER_TYPE_INT32, nullptr, 2)),
            "");
  EXPECT_NE(Text(TRITONBACKEND_StateUpdate(nullptr)), "");
  EXPECT_NE(Text(TRITONBACKEND_StateBuffer(nullptr, &buffer_, 4, &type_, &id_)), "");
  EXPECT_NE(Text(TRITONBACKEND_StateBufferAttributes(nullptr, nullptr)), "");
}

TEST_F(StateFunctionsTest, ANullRequestMayBeWrittenToo) {
  auto real = std::move(request_);
  request_ = inputs_->NewNullRequest(*real).value();
  ASSERT_EQ(New("S_OUT", TRITONSERVER_TYPE_INT32, {1, 1}), "");
  ASSERT_EQ(Buffer(4), "");
  *static_cast<int32_t*>(buffer_) = 13;
  ASSERT_EQ(Text(TRITONBACKEND_StateUpdate(state_)), "");
  End();
  request_ = std::move(real);
  EXPECT_EQ(Value(), 0);
}

}  // namespace
}  // namespace nereid::backend
