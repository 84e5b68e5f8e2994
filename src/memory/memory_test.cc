// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "memory/host_buffer.h"

namespace nereid::memory {
namespace {

TEST(HostBufferTest, IsAlignedAndWritableAtEverySize) {
  for (const size_t size : {size_t{1}, size_t{63}, size_t{64}, size_t{65536}, size_t{65537},
                            size_t{1} << 20, (size_t{64} << 20) + 1}) {
    HostBuffer buffer = HostBuffer::Allocate(size);
    ASSERT_TRUE(buffer) << size;
    EXPECT_EQ(buffer.size(), size);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % HostBuffer::kAlignment, 0u);
    std::memset(buffer.data(), 0x5a, size);
  }
}

TEST(HostBufferTest, RecyclesLargeBuffers) {
  TrimHostPool();
  char* first = nullptr;
  {
    HostBuffer buffer = HostBuffer::Allocate(300'000);
    first = buffer.data();
  }
  EXPECT_EQ(PooledHostBytes(), size_t{1} << 19);
  HostBuffer again = HostBuffer::Allocate(400'000);
  EXPECT_EQ(again.data(), first);
  EXPECT_EQ(PooledHostBytes(), 0u);
  again.Reset();
  TrimHostPool();
  EXPECT_EQ(PooledHostBytes(), 0u);
}

TEST(HostBufferTest, KeepsNoMoreThanItsBound) {
  TrimHostPool();
  {
    std::vector<HostBuffer> buffers;
    for (int i = 0; i < 8; ++i) buffers.push_back(HostBuffer::Allocate(size_t{64} << 20));
  }
  EXPECT_LE(PooledHostBytes(), size_t{256} << 20);
  EXPECT_GT(PooledHostBytes(), 0u);
  TrimHostPool();
}

TEST(HostBufferTest, GrowsWithItsContents) {
  HostBuffer buffer = HostBuffer::Allocate(10);
  std::memcpy(buffer.data(), "0123456789", 10);
  for (const size_t size :
       {size_t{100}, size_t{65537}, size_t{1} << 20, (size_t{64} << 20) + 1, size_t{200} << 20}) {
    ASSERT_TRUE(buffer.Grow(size, 10)) << size;
    EXPECT_EQ(buffer.size(), size);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % HostBuffer::kAlignment, 0u);
    EXPECT_EQ(std::memcmp(buffer.data(), "0123456789", 10), 0) << size;
    buffer.data()[size - 1] = 'x';
  }
  EXPECT_FALSE(buffer.Grow(SIZE_MAX, 10));
  EXPECT_EQ(std::memcmp(buffer.data(), "0123456789", 10), 0);
}

TEST(HostBufferTest, AnImpossibleSizeIsNotACrash) {
  HostBuffer buffer = HostBuffer::Allocate(SIZE_MAX);
  EXPECT_FALSE(buffer);
  EXPECT_FALSE(HostBuffer::Allocate(SIZE_MAX - 64));
  EXPECT_FALSE(HostBuffer::Allocate(0));
}

TEST(HostBufferTest, MovesItsMemory) {
  HostBuffer a = HostBuffer::Allocate(10);
  char* const data = a.data();
  HostBuffer b = std::move(a);
  EXPECT_EQ(b.data(), data);
  EXPECT_FALSE(a);  // NOLINT: what a moved-from buffer is, is part of its contract
}

}  // namespace
}  // namespace nereid::memory
