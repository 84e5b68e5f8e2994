// SPDX-License-Identifier: Apache-2.0
#include "device/stream.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "../../tests/fake_gpu/control.h"
#include "device/context.h"
#include "device/cuda_driver.h"
#include "device/event.h"

namespace nereid::device {
namespace {

using fake_gpu::Control;

/// Returns 64 KiB of GPU memory.
CuPointer MemoryOf(const CudaDriver& driver) {
  CuPointer data = 0;
  EXPECT_EQ(driver.MemAlloc(&data, 65'536), kCudaSuccess);
  return data;
}

std::string Content(CuPointer data) {
  const auto* const at = static_cast<const char*>(Control::Get().host_address(data, 65'536));
  return {at, 65'536};
}

class StreamTest : public ::testing::Test {
 protected:
  const CudaDriver& driver_ = **CudaDriver::Get();
  const ScopedDevice current_ = std::move(ScopedDevice::Enter(0)).value();
  const CuPointer memory_ = MemoryOf(driver_);
  ~StreamTest() override { driver_.MemFree(memory_); }
};

TEST_F(StreamTest, WaitEndsWhenTheWorkIsDone) {
  Stream stream = std::move(Stream::Create(0)).value();
  EXPECT_EQ(stream.ordinal(), 0);
  EXPECT_TRUE(stream.Wait().ok()) << "without work";
  for (const char byte : {'a', 'b'}) {
    driver_.MemsetAsync(memory_, static_cast<unsigned char>(byte), 65'536, stream.handle());
    ASSERT_TRUE(stream.Wait().ok());
    EXPECT_EQ(Content(memory_), std::string(65'536, byte));
  }
  Stream moved = std::move(stream);
  EXPECT_TRUE(moved.Wait().ok());
}

TEST_F(StreamTest, EventsOrderStreams) {
  Stream first = std::move(Stream::Create(0)).value();
  Stream second = std::move(Stream::Create(0)).value();
  Event event = std::move(Event::Create(0)).value();
  driver_.MemsetAsync(memory_, 'a', 65'536, first.handle());
  ASSERT_TRUE(event.Record(first).ok());
  ASSERT_TRUE(event.Precede(second).ok());
  driver_.MemsetAsync(memory_, 'b', 65'536, second.handle());
  ASSERT_TRUE(second.Wait().ok());
  EXPECT_EQ(Content(memory_), std::string(65'536, 'b'));
  EXPECT_TRUE(event.Wait().ok());
  const auto done = event.IsDone();
  ASSERT_TRUE(done.ok());
  EXPECT_TRUE(*done);
}

TEST_F(StreamTest, GpusThatDoNotExist) {
  EXPECT_FALSE(Stream::Create(99).ok());
  EXPECT_FALSE(Event::Create(-1).ok());
}

TEST_F(StreamTest, FailuresNameTheGpu) {
  Stream stream = std::move(Stream::Create(0)).value();
  Control::Get().fail("cuStreamSynchronize=1,cuStreamCreate=2");
  EXPECT_NE(stream.Wait().message().find("cannot finish the work of a stream of GPU 0"),
            std::string::npos);
  EXPECT_EQ(Stream::Create(0).status().code(), base::StatusCode::kUnavailable);
  Control::Get().fail("");
  EXPECT_TRUE(stream.Wait().ok());
}

}  // namespace
}  // namespace nereid::device
