// SPDX-License-Identifier: Apache-2.0
#include "memory/gpu/gpu_pools.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "memory/gpu/device_buffer.h"
#include "memory/gpu/testing/gpu_bytes.h"

namespace nereid::memory {
namespace {

using base::StatusCode;

const FakeGpuSetting two_gpus("NEREID_FAKE_GPUS", "2");

class GpuPoolsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(HasFakeGpus());
    GpuPools::Get().Trim();
    GpuMemorySettings settings;
    settings.pinned_pool_bytes = 1 << 20;
    settings.pool_bytes = {{0, 64 << 10}, {1, 0}};
    GpuPools::Get().Configure(settings);
  }
  void TearDown() override {
    GpuPools::Get().Trim();
    GpuPools::Get().Configure({});
  }
};

TEST_F(GpuPoolsTest, ABufferIsMemoryOfItsGpu) {
  const size_t before = fake_gpu::Control::Get().allocated_bytes(0);
  {
    auto buffer = DeviceBuffer::OnGpu(0, 1000);
    ASSERT_TRUE(buffer.ok()) << buffer.status().message();
    EXPECT_EQ(buffer->size(), 1000u);
    EXPECT_EQ(buffer->memory_type(), MemoryType::kGpu);
    EXPECT_EQ(buffer->memory_type_id(), 0);
    EXPECT_EQ(fake_gpu::Control::Get().allocated_bytes(0), before + (64 << 10)) << "one block";
    EXPECT_EQ(GpuPools::Get().GpuUses().at(0).used_bytes, 1024u);
    EXPECT_EQ(GpuPools::Get().GpuUses().at(0).total_bytes, uint64_t{64 << 10});
    DeviceBuffer moved = std::move(*buffer);
    EXPECT_TRUE(moved);
    GpuPools::Get().Trim();
    EXPECT_EQ(fake_gpu::Control::Get().allocated_bytes(0), before + (64 << 10)) << "is in use";
  }
  EXPECT_EQ(GpuPools::Get().GpuUses().at(0).used_bytes, 0u);
  GpuPools::Get().Trim();
  EXPECT_EQ(fake_gpu::Control::Get().allocated_bytes(0), before);
}

TEST_F(GpuPoolsTest, AFullPoolNamesItsFlag) {
  auto first = DeviceBuffer::OnGpu(0, 60 << 10);
  ASSERT_TRUE(first.ok());
  const auto second = DeviceBuffer::OnGpu(0, 5 << 10);
  EXPECT_EQ(second.status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(second.status().message(),
            "the memory pool of GPU 0 has no room for 5120 bytes: 61440 of its 65536 bytes are in "
            "use. --cuda-memory-pool-byte-size=0:BYTES makes it larger");
  EXPECT_EQ(DeviceBuffer::OnGpu(1, 1).status().message(),
            "the memory pool of GPU 1 has no room for 1 bytes: 0 of its 0 bytes are in use. "
            "--cuda-memory-pool-byte-size=1:BYTES makes it larger");
  EXPECT_EQ(DeviceBuffer::Pinned(2 << 20).status().message(),
            "the pool of pinned memory has no room for 2097152 bytes: 0 of its 1048576 bytes are "
            "in use. --pinned-memory-pool-byte-size makes it larger");
}

TEST_F(GpuPoolsTest, GpusThatDoNotExist) {
  for (const int64_t gpu : {int64_t{2}, int64_t{-1}, int64_t{1} << 40}) {
    const auto buffer = DeviceBuffer::OnGpu(gpu, 1);
    EXPECT_EQ(buffer.status().code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(buffer.status().message(),
              "there is no GPU " + std::to_string(gpu) + ": this machine has GPUs 0 to 1");
  }
}

TEST_F(GpuPoolsTest, PinnedMemoryIsHostMemory) {
  auto buffer = DeviceBuffer::Pinned(100);
  ASSERT_TRUE(buffer.ok()) << buffer.status().message();
  EXPECT_EQ(buffer->memory_type(), MemoryType::kCpuPinned);
  std::memset(buffer->data(), 1, 100);
  EXPECT_EQ(fake_gpu::Control::Get().pinned_bytes(), size_t{1 << 20});
  EXPECT_EQ(GpuPools::Get().PinnedUse().used_bytes, 256u);
  EXPECT_EQ(GpuPools::Get().PinnedUse().total_bytes, uint64_t{1 << 20});
}

TEST_F(GpuPoolsTest, MemoryOfOthersIsRefused) {
  auto buffer = DeviceBuffer::OnGpu(0, 1);
  int local = 0;
  EXPECT_FALSE(GpuPools::Get().GiveGpu(0, &local));
  EXPECT_FALSE(GpuPools::Get().GiveGpu(1, buffer->data()));
  EXPECT_FALSE(GpuPools::Get().GiveGpu(0, buffer->data() + 1));
  EXPECT_FALSE(GpuPools::Get().GiveGpu(7, buffer->data()));
  EXPECT_FALSE(GpuPools::Get().GivePinned(buffer->data()));
}

TEST_F(GpuPoolsTest, ADriverWithoutMemoryIsAskedAgain) {
  {
    const ScopedGpuFailure failure("cuMemAlloc_v2=2,cuMemHostAlloc=2");
    const auto buffer = DeviceBuffer::OnGpu(0, 1);
    EXPECT_EQ(buffer.status().code(), StatusCode::kUnavailable);
    EXPECT_NE(buffer.status().message().find(
                  "cannot allocate the memory pool of GPU 0 with 65536 bytes: "),
              std::string::npos)
        << buffer.status().message();
    EXPECT_EQ(DeviceBuffer::Pinned(1).status().code(), StatusCode::kUnavailable);
  }
  EXPECT_TRUE(DeviceBuffer::OnGpu(0, 1).ok());
  EXPECT_TRUE(DeviceBuffer::Pinned(1).ok());
}

TEST_F(GpuPoolsTest, PoolsInUseKeepTheirSizes) {
  auto buffer = DeviceBuffer::OnGpu(0, 1);
  GpuMemorySettings other;
  other.pool_bytes = {{0, 128 << 10}};
  GpuPools::Get().Configure(other);
  EXPECT_EQ(GpuPools::Get().GpuUses().at(0).total_bytes, uint64_t{64 << 10});
  buffer = base::Status::Internal("none");
  GpuPools::Get().Trim();
  GpuPools::Get().Configure(other);
  ASSERT_TRUE(DeviceBuffer::OnGpu(0, 100 << 10).ok());
}

}  // namespace
}  // namespace nereid::memory
