// SPDX-License-Identifier: Apache-2.0
// The fake driver does what tests rely on.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "control.h"
#include "device/context.h"

namespace nereid::fake_gpu {
namespace {

using namespace device;

constexpr size_t kSize = 4096;

class FakeGpuTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { setenv("NEREID_FAKE_GPUS", "2", 1); }

  void SetUp() override {
    auto driver = CudaDriver::Get();
    ASSERT_TRUE(driver.ok()) << driver.status().message();
    cuda_ = *driver;
    device_.emplace(*ScopedDevice::Enter(0));
  }
  void TearDown() override { Control::Get().fail(""); }

  CuPointer Allocate(size_t size = kSize) {
    CuPointer data = 0;
    EXPECT_EQ(cuda_->MemAlloc(&data, size), kCudaSuccess);
    return data;
  }
  CuStream MakeStream() {
    CuStream stream = nullptr;
    EXPECT_EQ(cuda_->StreamCreate(&stream, kCudaStreamNonBlocking), kCudaSuccess);
    return stream;
  }
  static CuPointer Host(const void* data) { return reinterpret_cast<CuPointer>(data); }

  const CudaDriver* cuda_ = nullptr;
  std::optional<ScopedDevice> device_;
};

TEST_F(FakeGpuTest, CopiesThroughTheDevice) {
  const std::string text = "device memory";
  std::string back(text.size(), ' ');
  const CuPointer data = Allocate();
  CuStream stream = MakeStream();
  EXPECT_EQ(cuda_->MemcpyAsync(data, Host(text.data()), text.size(), stream), kCudaSuccess);
  EXPECT_EQ(cuda_->MemcpyAsync(Host(back.data()), data, back.size(), stream), kCudaSuccess);
  EXPECT_EQ(back, text);
  EXPECT_EQ(std::memcmp(Control::Get().host_address(data, text.size()), text.data(), text.size()),
            0);
  EXPECT_EQ(cuda_->StreamDestroy(stream), kCudaSuccess);
  EXPECT_EQ(cuda_->StreamSynchronize(stream), kCudaInvalidHandle);
  EXPECT_EQ(cuda_->MemFree(data), kCudaSuccess);
  EXPECT_EQ(Control::Get().allocations(0), 0);
}

TEST_F(FakeGpuTest, HostCodeCannotReadDeviceMemory) {
  const CuPointer data = Allocate();
  EXPECT_DEATH(std::printf("%d", *reinterpret_cast<volatile char*>(data)), "");
  cuda_->MemFree(data);
}

TEST_F(FakeGpuTest, ChecksBounds) {
  const CuPointer data = Allocate(100);
  char text[101] = {};
  CuStream stream = MakeStream();
  EXPECT_EQ(cuda_->MemcpyAsync(data, Host(text), 101, stream), kCudaSuccess);
  EXPECT_EQ(cuda_->StreamSynchronize(stream), kCudaIllegalAddress);
  CuPointer more = 0;
  EXPECT_EQ(cuda_->MemAlloc(&more, 1), kCudaIllegalAddress);
  Control::Get().fail("");
  EXPECT_EQ(cuda_->MemFree(data), kCudaSuccess);
  EXPECT_EQ(cuda_->MemFree(data), kCudaInvalidValue);
  cuda_->StreamDestroy(stream);
}

TEST_F(FakeGpuTest, LimitsMemory) {
  CuPointer data = 0;
  EXPECT_EQ(cuda_->MemAlloc(&data, (size_t{1} << 30) + 1), kCudaOutOfMemory);
  size_t free = 0;
  size_t total = 0;
  EXPECT_EQ(cuda_->MemGetInfo(&free, &total), kCudaSuccess);
  EXPECT_EQ(free, total);
  EXPECT_EQ(cuda_->MemAlloc(&data, total), kCudaSuccess);
  EXPECT_EQ(cuda_->MemGetInfo(&free, &total), kCudaSuccess);
  EXPECT_EQ(free, 0u);
  EXPECT_EQ(cuda_->MemFree(data), kCudaSuccess);
}

TEST_F(FakeGpuTest, InjectsFailures) {
  CuPointer data = 0;
  Control::Get().fail("cuMemAlloc_v2:2!=2");
  EXPECT_EQ(cuda_->MemAlloc(&data, 1), kCudaSuccess);
  cuda_->MemFree(data);
  EXPECT_EQ(cuda_->MemAlloc(&data, 1), kCudaOutOfMemory);
  EXPECT_EQ(cuda_->MemAlloc(&data, 1), kCudaSuccess);
  cuda_->MemFree(data);
  Control::Get().fail("cuMemAlloc_v2=719");
  EXPECT_EQ(cuda_->MemAlloc(&data, 1), 719);
  EXPECT_EQ(cuda_->ContextSynchronize(), 719);
}

TEST_F(FakeGpuTest, OrdersStreamsByEvents) {
  CuStream first = MakeStream();
  CuStream second = MakeStream();
  CuEvent event = nullptr;
  EXPECT_EQ(cuda_->EventCreate(&event, kCudaEventDisableTiming), kCudaSuccess);
  struct State {
    std::atomic<bool> go{false};
    std::atomic<int> order{0};
    int seen = 0;
  } state;
  cuda_->LaunchHostFunc(
      first,
      [](void* argument) {
        auto& state = *static_cast<State*>(argument);
        while (!state.go) std::this_thread::yield();
        state.order = 1;
      },
      &state);
  EXPECT_EQ(cuda_->EventRecord(event, first), kCudaSuccess);
  EXPECT_EQ(cuda_->StreamWaitEvent(second, event, 0), kCudaSuccess);
  cuda_->LaunchHostFunc(
      second,
      [](void* argument) {
        auto& state = *static_cast<State*>(argument);
        state.seen = state.order;
      },
      &state);
  EXPECT_EQ(cuda_->EventQuery(event), kCudaNotReady);
  EXPECT_EQ(cuda_->StreamQuery(second), kCudaNotReady);
  state.go = true;
  EXPECT_EQ(cuda_->StreamSynchronize(second), kCudaSuccess);
  EXPECT_EQ(state.seen, 1);
  cuda_->EventDestroy(event);
  cuda_->StreamDestroy(first);
  cuda_->StreamDestroy(second);
}

TEST_F(FakeGpuTest, PinnedMemoryIsReadLater) {
  void* pinned = nullptr;
  ASSERT_EQ(cuda_->MemHostAlloc(&pinned, kSize, 0), kCudaSuccess);
  const CuPointer data = Allocate();
  CuStream stream = MakeStream();
  std::atomic<bool> go{false};
  cuda_->LaunchHostFunc(
      stream,
      [](void* argument) {
        while (!*static_cast<std::atomic<bool>*>(argument)) std::this_thread::yield();
      },
      &go);
  std::memset(pinned, 1, kSize);
  EXPECT_EQ(cuda_->MemcpyAsync(data, Host(pinned), kSize, stream), kCudaSuccess);
  std::memset(pinned, 2, kSize);
  go = true;
  cuda_->StreamSynchronize(stream);
  EXPECT_EQ(*static_cast<char*>(Control::Get().host_address(data, kSize)), 2);
  EXPECT_EQ(Control::Get().pinned_bytes(), kSize);
  EXPECT_EQ(cuda_->MemFreeHost(pinned), kCudaSuccess);
  cuda_->MemFree(data);
  cuda_->StreamDestroy(stream);
}

TEST_F(FakeGpuTest, ReservedAddressesGetMemory) {
  CuMemoryProperties properties = {};
  properties.type = kCudaMemoryPinned;
  properties.location = {kCudaLocationDevice, 0};
  size_t unit = 0;
  ASSERT_EQ(cuda_->MemGetAllocationGranularity(&unit, &properties, kCudaGranularityMinimum), 0);
  CuPointer address = 0;
  ASSERT_EQ(cuda_->MemAddressReserve(&address, 4 * unit, 0, 0, 0), kCudaSuccess);
  CuStream stream = MakeStream();
  for (int i = 0; i < 2; ++i) {
    CuMemoryHandle handle = 0;
    ASSERT_EQ(cuda_->MemCreate(&handle, unit, &properties, 0), kCudaSuccess);
    ASSERT_EQ(cuda_->MemMap(address + static_cast<size_t>(i) * unit, unit, 0, handle, 0), 0);
    ASSERT_EQ(cuda_->MemRelease(handle), kCudaSuccess);
  }
  const CuMemoryAccess access = {{kCudaLocationDevice, 0}, kCudaAccessReadWrite};
  ASSERT_EQ(cuda_->MemSetAccess(address, 2 * unit, &access, 1), kCudaSuccess);
  std::string text(2 * unit, 'x');
  EXPECT_EQ(cuda_->MemcpyAsync(address, Host(text.data()), text.size(), stream), kCudaSuccess);
  EXPECT_EQ(cuda_->StreamSynchronize(stream), kCudaSuccess);
  EXPECT_EQ(cuda_->MemAddressFree(address, 4 * unit), kCudaInvalidValue);
  EXPECT_EQ(cuda_->MemUnmap(address, 2 * unit), kCudaSuccess);
  EXPECT_EQ(cuda_->MemAddressFree(address, 4 * unit), kCudaSuccess);
  EXPECT_EQ(Control::Get().allocations(0), 0);
  cuda_->StreamDestroy(stream);
}

TEST_F(FakeGpuTest, GraphsRepeatWhatWasCaptured) {
  CuStream stream = MakeStream();
  const CuPointer data = Allocate();
  const CuPointer copy = Allocate();
  ASSERT_EQ(cuda_->StreamBeginCapture(stream, kCudaCaptureThreadLocal), kCudaSuccess);
  EXPECT_EQ(cuda_->MemcpyAsync(copy, data, kSize, stream), kCudaSuccess);
  CuGraph graph = nullptr;
  CuGraphExec executable = nullptr;
  ASSERT_EQ(cuda_->StreamEndCapture(stream, &graph), kCudaSuccess);
  ASSERT_EQ(cuda_->GraphInstantiate(&executable, graph, 0), kCudaSuccess);
  EXPECT_EQ(cuda_->MemsetAsync(data, 7, kSize, stream), kCudaSuccess);
  EXPECT_EQ(cuda_->GraphLaunch(executable, stream), kCudaSuccess);
  EXPECT_EQ(cuda_->StreamSynchronize(stream), kCudaSuccess);
  EXPECT_EQ(*static_cast<char*>(Control::Get().host_address(copy, 1)), 7);
  cuda_->GraphExecDestroy(executable);
  cuda_->GraphDestroy(graph);
  cuda_->MemFree(data);
  cuda_->MemFree(copy);
  cuda_->StreamDestroy(stream);
}

TEST_F(FakeGpuTest, AnotherProcessOpensAHandle) {
  const CuPointer data = Allocate();
  CuIpcHandle handle;
  ASSERT_EQ(cuda_->IpcGetMemHandle(&handle, data), kCudaSuccess);
  CuPointer opened = 0;
  EXPECT_EQ(cuda_->IpcOpenMemHandle(&opened, handle, kCudaIpcLazyPeerAccess), kCudaInvalidContext);
  const pid_t child = fork();
  if (child == 0) {
    if (cuda_->IpcOpenMemHandle(&opened, handle, kCudaIpcLazyPeerAccess) != 0) _exit(1);
    size_t size = 0;
    if (cuda_->MemGetAddressRange(nullptr, &size, opened) != 0 || size != kSize) _exit(2);
    std::memset(Control::Get().host_address(opened, kSize), 9, kSize);
    _exit(cuda_->IpcCloseMemHandle(opened));
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(*static_cast<char*>(Control::Get().host_address(data, 1)), 9);
  cuda_->MemFree(data);
}

}  // namespace
}  // namespace nereid::fake_gpu
