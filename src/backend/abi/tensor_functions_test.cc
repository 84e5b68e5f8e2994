// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "abi/error.h"
#include "request/inference_request.h"
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

}  // namespace
}  // namespace nereid::backend
