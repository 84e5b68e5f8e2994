// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "abi/error.h"
#include "nereid/backend/lent_output.h"
#include "request/binding.h"
#include "request/inference_request.h"
#include "request/inference_response.h"
#include "request/response_factory.h"
#include "request/testing/make_model.h"
#include "request/testing/recording_sink.h"
#include "triton/core/tritonbackend.h"

namespace nereid::backend {
namespace {

class InputBufferTest : public ::testing::Test {
 protected:
  InputBufferTest() {
    auto added = request_.AddInput("IN", tensor::DataType::kFp32, {0});
    input_ = *added;
  }

  TRITONBACKEND_Input* handle() { return reinterpret_cast<TRITONBACKEND_Input*>(input_); }

  base::Status Buffer(uint32_t index) {
    return abi::TakeStatus(
        TRITONBACKEND_InputBuffer(handle(), index, &buffer_, &size_, &type_, &id_));
  }

  base::Status Attributes(uint32_t index) {
    TRITONSERVER_BufferAttributes* attributes = nullptr;
    const base::Status status = abi::TakeStatus(
        TRITONBACKEND_InputBufferAttributes(handle(), index, &buffer_, &attributes));
    if (!status.ok()) return status;
    size_t size = 99;
    EXPECT_EQ(TRITONSERVER_BufferAttributesByteSize(attributes, &size), nullptr);
    EXPECT_EQ(TRITONSERVER_BufferAttributesMemoryType(attributes, &type_), nullptr);
    size_ = size;
    return status;
  }

  request::InferenceRequest request_;
  request::Input* input_ = nullptr;
  const void* buffer_ = this;
  uint64_t size_ = 99;
  TRITONSERVER_MemoryType type_ = TRITONSERVER_MEMORY_GPU;
  int64_t id_ = 99;
};

TEST_F(InputBufferTest, TheFirstOfNoneIsEmpty) {
  ASSERT_TRUE(Buffer(0).ok());
  EXPECT_EQ(buffer_, nullptr);
  EXPECT_EQ(size_, 0u);
  EXPECT_EQ(type_, TRITONSERVER_MEMORY_CPU);
  EXPECT_EQ(id_, 0);
}

TEST_F(InputBufferTest, TheAttributesOfTheFirstOfNoneAreThere) {
  ASSERT_TRUE(Attributes(0).ok());
  EXPECT_EQ(buffer_, nullptr);
  EXPECT_EQ(size_, 0u);
  EXPECT_EQ(type_, TRITONSERVER_MEMORY_CPU);
}

TEST_F(InputBufferTest, ThereIsNoBufferPastTheLast) {
  EXPECT_EQ(Buffer(1).code(), base::StatusCode::kInvalidArgument);
  EXPECT_EQ(Attributes(1).code(), base::StatusCode::kInvalidArgument);
  const float value = 1;
  input_->Append(&value, sizeof(value), memory::MemoryType::kCpu, 0);
  ASSERT_TRUE(Buffer(0).ok());
  EXPECT_EQ(buffer_, &value);
  EXPECT_EQ(size_, sizeof(value));
  EXPECT_EQ(Buffer(1).code(), base::StatusCode::kInvalidArgument);
}

class OutputLendTest : public ::testing::Test {
 protected:
  OutputLendTest() {
    request_.SetSink(sink_);
    request::BindRequest(request_, request::MakeModel(R"(name: "m"
        output { name: "N" data_type: TYPE_UINT8 dims: [ 3 ] }
        output { name: "S" data_type: TYPE_STRING dims: [ 1 ] })"));
    response_ = std::move(request_.response_factory()->NewResponse()).value();
  }
  ~OutputLendTest() override {
    response_.reset();
    request_.response_factory()->Disarm();
  }

  TRITONBACKEND_Output* Add(const char* name, tensor::DataType type) {
    return reinterpret_cast<TRITONBACKEND_Output*>(*response_->AddOutput(name, type, {3}));
  }
  base::Status Lend(TRITONBACKEND_Output* output) {
    return abi::TakeStatus(NEREID_OutputLend(
        output, bytes_, 3, [](void* count) { ++*static_cast<int*>(count); }, &released_));
  }

  std::shared_ptr<request::RecordingSink> sink_ = std::make_shared<request::RecordingSink>();
  request::InferenceRequest request_;
  std::unique_ptr<request::InferenceResponse> response_;
  char bytes_[4] = "abc";
  int released_ = 0;
};

// This sink has memory of its own for bytes that may change.
TEST_F(OutputLendTest, TheBytesAreReleasedWhenTheyAreCopied) {
  TRITONBACKEND_Output* const output = Add("N", tensor::DataType::kUint8);
  ASSERT_TRUE(Lend(output).ok());
  EXPECT_EQ(released_, 1);
  bytes_[0] = 'x';
  EXPECT_EQ(response_->outputs()[0]->MessageBytes(), "abc");
}

TEST_F(OutputLendTest, TheBytesAreReleasedAfterAnError) {
  EXPECT_EQ(Lend(Add("S", tensor::DataType::kBytes)).code(), base::StatusCode::kInvalidArgument);
  EXPECT_EQ(released_, 1);
  TRITONBACKEND_Output* const output = Add("N", tensor::DataType::kUint8);
  ASSERT_TRUE(Lend(output).ok());
  EXPECT_EQ(Lend(output).code(), base::StatusCode::kAlreadyExists);
  EXPECT_EQ(released_, 3);
}

}  // namespace
}  // namespace nereid::backend
