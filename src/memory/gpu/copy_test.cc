// SPDX-License-Identifier: Apache-2.0
#include "memory/gpu/copy.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "memory/gpu/gpu_pools.h"
#include "memory/gpu/testing/gpu_bytes.h"

namespace nereid::memory {
namespace {

/// Returns bytes that differ from one place to the next.
std::string Pattern(size_t size, unsigned seed = 1) {
  std::string bytes(size, '\0');
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>((i * 131 + i / 256 + seed) & 255);
  return bytes;
}

CopyBatch::Source SourceOf(const DeviceBuffer& buffer) {
  return {buffer.data(), buffer.memory_type(), buffer.memory_type_id()};
}
CopyBatch::Place PlaceOf(const DeviceBuffer& buffer) {
  return {buffer.data(), buffer.memory_type(), buffer.memory_type_id()};
}

class CopyTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { ASSERT_TRUE(HasFakeGpus()); }
  static void Configure(uint64_t pinned_bytes) {
    GpuPools::Get().Trim();
    GpuMemorySettings settings;
    settings.pinned_pool_bytes = pinned_bytes;
    GpuPools::Get().Configure(settings);
  }
  void TearDown() override { Configure(uint64_t{256} << 20); }
};

TEST_F(CopyTest, EveryDirection) {
  // Without and with steps through pinned memory; odd sizes, several steps.
  for (const size_t size : {size_t{1}, size_t{1000}, size_t{65'536}, size_t{5'000'001}}) {
    const std::string bytes = Pattern(size);
    for (const int gpu : {0, 1}) {
      auto first = std::move(DeviceBuffer::OnGpu(gpu, size)).value();
      auto same = std::move(DeviceBuffer::OnGpu(gpu, size)).value();
      auto other = std::move(DeviceBuffer::OnGpu(1 - gpu, size)).value();
      auto pinned = std::move(DeviceBuffer::Pinned(size)).value();
      ASSERT_TRUE(CopyBytes(PlaceOf(first), {bytes.data()}, size).ok());
      EXPECT_TRUE(ReadGpu(first.data(), size) == bytes);
      ASSERT_TRUE(CopyBytes(PlaceOf(same), SourceOf(first), size).ok());
      EXPECT_TRUE(ReadGpu(same.data(), size) == bytes);
      ASSERT_TRUE(CopyBytes(PlaceOf(other), SourceOf(same), size).ok());
      EXPECT_TRUE(ReadGpu(other.data(), size) == bytes);
      ASSERT_TRUE(CopyBytes(PlaceOf(pinned), SourceOf(other), size).ok());
      EXPECT_TRUE(std::string(pinned.data(), size) == bytes);
      ASSERT_TRUE(CopyBytes(PlaceOf(first), SourceOf(pinned), size).ok());
      std::string back(size, '\0');
      ASSERT_TRUE(CopyBytes({back.data()}, SourceOf(first), size).ok());
      EXPECT_TRUE(back == bytes);
    }
  }
}

TEST_F(CopyTest, HostMemoryNeedsNoGpu) {
  const long before = fake_gpu::Control::Get().calls("cuMemcpyAsync");
  std::string text = "overlap";
  CopyBatch batch;
  ASSERT_TRUE(batch.Add({text.data() + 1}, {text.data()}, 6).ok());
  EXPECT_EQ(text, "ooverla");
  ASSERT_TRUE(batch.AddZeros({text.data()}, 2).ok());
  EXPECT_EQ(text, std::string("\0\0verla", 7));
  ASSERT_TRUE(batch.Add({}, {}, 0).ok());
  EXPECT_TRUE(batch.Wait().ok());
  EXPECT_EQ(fake_gpu::Control::Get().calls("cuMemcpyAsync"), before);
}

TEST_F(CopyTest, GpusGetAccessToEachOtherOnce) {
  const std::string bytes = Pattern(100);
  const DeviceBuffer from = OnGpu(0, bytes), to = OnGpu(1, bytes);
  ASSERT_TRUE(CopyBytes(PlaceOf(to), SourceOf(from), bytes.size()).ok());
  const long enabled = fake_gpu::Control::Get().calls("cuCtxEnablePeerAccess");
  EXPECT_GT(enabled, 0);
  ASSERT_TRUE(CopyBytes(PlaceOf(to), SourceOf(from), bytes.size()).ok());
  EXPECT_EQ(fake_gpu::Control::Get().calls("cuCtxEnablePeerAccess"), enabled);
}

TEST_F(CopyTest, ManyPiecesAreWaitedForOnce) {
  const std::string bytes = Pattern(40'000);
  auto gpu = std::move(DeviceBuffer::OnGpu(0, bytes.size())).value();
  const long before = fake_gpu::Control::Get().calls("cuStreamSynchronize");
  CopyBatch batch;
  for (size_t i = 0; i < bytes.size(); i += 1000) {
    ASSERT_TRUE(batch.Add({gpu.data() + i, MemoryType::kGpu, 0}, {bytes.data() + i}, 1000).ok());
  }
  ASSERT_TRUE(batch.Wait().ok());
  EXPECT_EQ(fake_gpu::Control::Get().calls("cuStreamSynchronize"), before + 1);
  EXPECT_TRUE(ReadGpu(gpu.data(), bytes.size()) == bytes);
}

TEST_F(CopyTest, PiecesOfSeveralGpus) {
  const std::string a = Pattern(300'000, 1), b = Pattern(300'000, 2);
  const DeviceBuffer on_a = OnGpu(0, a), on_b = OnGpu(1, b);
  std::string joined(a.size() + b.size(), '\0');
  CopyBatch batch;
  ASSERT_TRUE(batch.Add({joined.data()}, SourceOf(on_a), a.size()).ok());
  ASSERT_TRUE(batch.Add({joined.data() + a.size()}, SourceOf(on_b), b.size()).ok());
  ASSERT_TRUE(batch.Wait().ok());
  EXPECT_TRUE(joined == a + b);
}

TEST_F(CopyTest, WithLittleAndWithoutPinnedMemory) {
  const std::string bytes = Pattern(6'000'000);
  for (const uint64_t pinned_bytes : {uint64_t{0}, uint64_t{1} << 20, uint64_t{5} << 20}) {
    Configure(pinned_bytes);
    auto gpu = std::move(DeviceBuffer::OnGpu(0, bytes.size())).value();
    ASSERT_TRUE(CopyBytes(PlaceOf(gpu), {bytes.data()}, bytes.size()).ok());
    std::string back(bytes.size(), '\0');
    ASSERT_TRUE(CopyBytes({back.data()}, SourceOf(gpu), bytes.size()).ok());
    EXPECT_TRUE(back == bytes);
    EXPECT_EQ(GpuPools::Get().PinnedUse().used_bytes, 0u);
  }
}

TEST_F(CopyTest, LargeCopiesKeepABoundOfPinnedMemory) {
  const std::string bytes = Pattern(40 << 20);
  auto gpu = std::move(DeviceBuffer::OnGpu(0, bytes.size())).value();
  {
    CopyBatch batch;
    ASSERT_TRUE(batch.Add(PlaceOf(gpu), {bytes.data()}, bytes.size()).ok());
    EXPECT_GT(GpuPools::Get().PinnedUse().used_bytes, 0u);
    EXPECT_LE(GpuPools::Get().PinnedUse().used_bytes, uint64_t{16} << 20);
    ASSERT_TRUE(batch.Wait().ok());
  }
  EXPECT_TRUE(ReadGpu(gpu.data(), bytes.size()) == bytes);
  EXPECT_EQ(GpuPools::Get().PinnedUse().used_bytes, 0u);
}

TEST_F(CopyTest, Zeros) {
  const DeviceBuffer gpu = OnGpu(1, Pattern(1000));
  CopyBatch batch;
  ASSERT_TRUE(batch.AddZeros({gpu.data() + 10, MemoryType::kGpu, 1}, 900).ok());
  ASSERT_TRUE(batch.Wait().ok());
  EXPECT_TRUE(ReadGpu(gpu.data(), 1000) == Pattern(1000).replace(10, 900, std::string(900, '\0')));
}

TEST_F(CopyTest, StreamsAreUsedAgain) {
  const std::string bytes = Pattern(100);
  auto gpu = std::move(DeviceBuffer::OnGpu(0, bytes.size())).value();
  ASSERT_TRUE(CopyBytes(PlaceOf(gpu), {bytes.data()}, bytes.size()).ok());
  const long before = fake_gpu::Control::Get().calls("cuStreamCreate");
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(CopyBytes(PlaceOf(gpu), {bytes.data()}, bytes.size()).ok());
  }
  EXPECT_EQ(fake_gpu::Control::Get().calls("cuStreamCreate"), before);
}

TEST_F(CopyTest, EveryCallThatFailsGivesOneError) {
  const std::string bytes = Pattern(200'000);
  for (const char* const function :
       {"cuMemcpyAsync", "cuStreamSynchronize", "cuCtxPushCurrent_v2", "cuMemHostAlloc"}) {
    auto gpu = std::move(DeviceBuffer::OnGpu(0, bytes.size())).value();
    const bool is_harmless = std::string(function) == "cuMemHostAlloc";
    if (is_harmless) GpuPools::Get().Trim();
    {
      const ScopedGpuFailure failure(std::string(function) + "=1");
      const base::Status status = CopyBytes(PlaceOf(gpu), {bytes.data()}, bytes.size());
      EXPECT_EQ(status.ok(), is_harmless) << function << ": " << status.message();
      if (!is_harmless) {
        EXPECT_NE(status.message().find("GPU 0"), std::string::npos) << status.message();
      }
    }
    ASSERT_TRUE(CopyBytes(PlaceOf(gpu), {bytes.data()}, bytes.size()).ok()) << function;
    EXPECT_TRUE(ReadGpu(gpu.data(), bytes.size()) == bytes);
    EXPECT_EQ(GpuPools::Get().PinnedUse().used_bytes, 0u);
  }
}

TEST_F(CopyTest, AFailedCopyToTheHostLeavesTheHostAlone) {
  const DeviceBuffer gpu = OnGpu(0, Pattern(300'000));
  std::string back(300'000, 'x');
  const ScopedGpuFailure failure("cuStreamSynchronize=1");
  EXPECT_FALSE(CopyBytes({back.data()}, SourceOf(gpu), back.size()).ok());
}

TEST_F(CopyTest, ThreadsDoNotDisturbEachOther) {
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 8; ++i) {
    threads.emplace_back([i] {
      const std::string bytes = Pattern(150'000 + i * 1000, i);
      for (int round = 0; round < 10; ++round) {
        const int on = static_cast<int>((i + static_cast<unsigned>(round)) % 2);
        auto gpu = std::move(DeviceBuffer::OnGpu(on, bytes.size())).value();
        std::string back(bytes.size(), '\0');
        ASSERT_TRUE(CopyBytes(PlaceOf(gpu), {bytes.data()}, bytes.size()).ok());
        ASSERT_TRUE(CopyBytes({back.data()}, SourceOf(gpu), back.size()).ok());
        ASSERT_TRUE(back == bytes);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace nereid::memory
