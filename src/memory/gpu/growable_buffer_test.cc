// SPDX-License-Identifier: Apache-2.0
#include "memory/gpu/growable_buffer.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "memory/gpu/gpu_pools.h"
#include "memory/gpu/testing/gpu_bytes.h"

namespace nereid::memory {
namespace {

using base::StatusCode;

constexpr size_t kUnit = size_t{2} << 20;

class GrowableBufferTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(HasFakeGpus());
    GpuPools::Get().Trim();
    GpuMemorySettings settings;
    settings.address_bytes = {{0, 5 * kUnit - 1}};
    GpuPools::Get().Configure(settings);
  }
  void TearDown() override { GpuPools::Get().Configure({}); }
};

TEST_F(GrowableBufferTest, ItGrowsWhereItIs) {
  const size_t before = fake_gpu::Control::Get().allocated_bytes(0);
  {
    auto buffer = std::move(GrowableBuffer::Create(0)).value();
    EXPECT_EQ(buffer.size(), 0u);
    ASSERT_TRUE(buffer.Grow(10).ok());
    EXPECT_EQ(buffer.size(), kUnit);
    char* const data = buffer.data();
    ASSERT_TRUE(CopyBytes({data, MemoryType::kGpu, 0}, {"state"}, 5).ok());
    ASSERT_TRUE(buffer.Grow(kUnit + 1).ok());
    EXPECT_EQ(buffer.data(), data);
    EXPECT_EQ(buffer.size(), 2 * kUnit);
    std::string back(5, ' ');
    ASSERT_TRUE(CopyBytes({back.data()}, {data, MemoryType::kGpu, 0}, 5).ok());
    EXPECT_EQ(back, "state");
    ASSERT_TRUE(buffer.Grow(5).ok()) << "is never smaller";
    EXPECT_EQ(buffer.size(), 2 * kUnit);
    GrowableBuffer moved = std::move(buffer);
    EXPECT_EQ(moved.data(), data);
    EXPECT_GE(fake_gpu::Control::Get().allocated_bytes(0), before + 2 * kUnit);
  }
  EXPECT_EQ(fake_gpu::Control::Get().allocated_bytes(0), before);
}

TEST_F(GrowableBufferTest, TheAddressesAreTheLimit) {
  auto buffer = std::move(GrowableBuffer::Create(0)).value();
  ASSERT_TRUE(buffer.Grow(5 * kUnit).ok()) << "rounded up to whole units";
  const base::Status status = buffer.Grow(5 * kUnit + 1);
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_EQ(status.message(),
            "growable memory on GPU 0 can have 10485760 bytes, but 10485761 are needed. "
            "--cuda-virtual-address-size=0:BYTES allows more");
  EXPECT_EQ(buffer.size(), 5 * kUnit);
}

TEST_F(GrowableBufferTest, EveryCallThatFailsLeavesItAsItWas) {
  const size_t before = fake_gpu::Control::Get().allocated_bytes(0);
  for (const char* const function :
       {"cuMemCreate=2", "cuMemMap=1", "cuMemSetAccess=1", "cuCtxPushCurrent_v2=1"}) {
    auto buffer = std::move(GrowableBuffer::Create(0)).value();
    ASSERT_TRUE(buffer.Grow(1).ok());
    {
      const ScopedGpuFailure failure(function);
      EXPECT_FALSE(buffer.Grow(kUnit + 1).ok()) << function;
    }
    EXPECT_EQ(buffer.size(), kUnit);
    EXPECT_TRUE(buffer.Grow(kUnit + 1).ok()) << function;
  }
  EXPECT_EQ(fake_gpu::Control::Get().allocated_bytes(0), before);
  for (const char* const function : {"cuMemGetAllocationGranularity=1", "cuMemAddressReserve=2"}) {
    const ScopedGpuFailure failure(function);
    EXPECT_FALSE(GrowableBuffer::Create(0).ok()) << function;
  }
}

}  // namespace
}  // namespace nereid::memory
