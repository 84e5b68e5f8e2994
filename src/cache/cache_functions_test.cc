// SPDX-License-Identifier: Apache-2.0
// The functions of tritoncache.h, called as a cache calls them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "abi/error.h"
#include "cache/cache_entry.h"

namespace nereid::cache {
namespace {

using ::testing::HasSubstr;

constexpr auto kOk = base::StatusCode::kOk;
constexpr auto kInvalid = base::StatusCode::kInvalidArgument;

base::StatusCode CodeOf(TRITONSERVER_Error* error) { return abi::TakeStatus(error).code(); }

class CacheFunctionsTest : public ::testing::Test {
 protected:
  void SetUp() override { TRITONSERVER_BufferAttributesNew(&attributes_); }
  void TearDown() override { TRITONSERVER_BufferAttributesDelete(attributes_); }
  void Describe(size_t size, TRITONSERVER_MemoryType type = TRITONSERVER_MEMORY_CPU) {
    TRITONSERVER_BufferAttributesSetByteSize(attributes_, size);
    TRITONSERVER_BufferAttributesSetMemoryType(attributes_, type);
  }
  size_t Count() {
    size_t count = 99;
    EXPECT_EQ(CodeOf(TRITONCACHE_CacheEntryBufferCount(entry_.handle(), &count)), kOk);
    return count;
  }

  CacheEntry entry_;
  TRITONSERVER_BufferAttributes* attributes_ = nullptr;
  char memory_[8] = "1234567";
};

TEST_F(CacheFunctionsTest, VersionIsTheHeaders) {
  uint32_t major = 9, minor = 9;
  EXPECT_EQ(TRITONCACHE_ApiVersion(&major, &minor), nullptr);
  EXPECT_EQ(major, 0u);
  EXPECT_EQ(minor, 1u);
}

TEST_F(CacheFunctionsTest, BuffersAreAddedReadAndReplaced) {
  EXPECT_EQ(Count(), 0u);
  Describe(8);
  EXPECT_EQ(CodeOf(TRITONCACHE_CacheEntryAddBuffer(entry_.handle(), memory_, attributes_)), kOk);
  EXPECT_EQ(Count(), 1u);
  Describe(1);
  void* base = nullptr;
  EXPECT_EQ(CodeOf(TRITONCACHE_CacheEntryGetBuffer(entry_.handle(), 0, &base, attributes_)), kOk);
  EXPECT_EQ(base, memory_);
  size_t size = 0;
  TRITONSERVER_BufferAttributesByteSize(attributes_, &size);
  EXPECT_EQ(size, 8u);
  char other[4];
  EXPECT_EQ(CodeOf(TRITONCACHE_CacheEntrySetBuffer(entry_.handle(), 0, other, nullptr)), kOk);
  EXPECT_EQ(entry_.buffers[0].base, other);
  EXPECT_EQ(entry_.buffers[0].attributes.byte_size, 8u);
  Describe(4);
  EXPECT_EQ(CodeOf(TRITONCACHE_CacheEntrySetBuffer(entry_.handle(), 0, other, attributes_)), kOk);
  EXPECT_EQ(entry_.buffers[0].attributes.byte_size, 4u);
}

TEST_F(CacheFunctionsTest, MistakesAreRefused) {
  Describe(8, TRITONSERVER_MEMORY_GPU);
  const auto gpu =
      abi::TakeStatus(TRITONCACHE_CacheEntryAddBuffer(entry_.handle(), memory_, attributes_));
  EXPECT_EQ(gpu.code(), kInvalid);
  EXPECT_THAT(gpu.message(), HasSubstr("only buffers in CPU memory are allowed"));
  Describe(0);
  EXPECT_EQ(CodeOf(TRITONCACHE_CacheEntryAddBuffer(entry_.handle(), memory_, attributes_)),
            kInvalid);
  void* base = nullptr;
  EXPECT_EQ(CodeOf(TRITONCACHE_CacheEntryGetBuffer(entry_.handle(), 0, &base, attributes_)),
            kInvalid);
  EXPECT_EQ(CodeOf(TRITONCACHE_CacheEntrySetBuffer(entry_.handle(), 0, memory_, nullptr)),
            kInvalid);
  EXPECT_EQ(CodeOf(TRITONCACHE_CacheEntryAddBuffer(nullptr, memory_, attributes_)), kInvalid);
  EXPECT_EQ(CodeOf(TRITONCACHE_CacheEntryAddBuffer(entry_.handle(), nullptr, attributes_)),
            kInvalid);
  EXPECT_EQ(CodeOf(TRITONCACHE_CacheEntryBufferCount(entry_.handle(), nullptr)), kInvalid);
  EXPECT_EQ(CodeOf(TRITONCACHE_Copy(nullptr, entry_.handle())), kInvalid);
  EXPECT_EQ(Count(), 0u);
}

TEST_F(CacheFunctionsTest, CopyDependsOnTheCall) {
  struct Throwing final : EntryCopier {
    base::Status Copy(CacheEntry& entry) override {
      if (entry.buffers.empty()) throw std::bad_alloc();
      return base::Status::Ok();
    }
  } copier;
  EXPECT_EQ(CodeOf(TRITONCACHE_Copy(copier.handle(), entry_.handle())),
            base::StatusCode::kUnavailable);
  entry_.buffers.emplace_back();
  EXPECT_EQ(CodeOf(TRITONCACHE_Copy(copier.handle(), entry_.handle())), kOk);
}

}  // namespace
}  // namespace nereid::cache
