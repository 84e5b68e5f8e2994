// SPDX-License-Identifier: Apache-2.0
#include "device/gpus.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "../../tests/fake_gpu/control.h"
#include "device/context.h"

namespace nereid::device {
namespace {

using fake_gpu::Control;

// The driver is opened once per process, so its environment is the same for all tests.
const bool environment = [] {
  setenv("NEREID_FAKE_GPUS", "3", 1);
  setenv("NEREID_FAKE_GPU_CAPABILITY", "9.0,5.2,7.5", 1);
  setenv("NEREID_FAKE_GPU_USED", "1048576", 1);
  return true;
}();

class GpusTest : public ::testing::Test {
 protected:
  void TearDown() override { Control::Get().fail(""); }
};

TEST_F(GpusTest, ReadsWhatTheDriverSays) {
  const Gpus gpus = Gpus::Find(0);
  ASSERT_EQ(gpus.used().size(), 3u) << gpus.none_because();
  EXPECT_EQ(gpus.none_because(), "");
  EXPECT_TRUE(gpus.failures().empty());
  const Gpu& gpu = gpus.used()[1];
  EXPECT_EQ(gpu.ordinal, 1);
  EXPECT_EQ(gpu.name, "Fake GPU 1");
  EXPECT_EQ(gpu.major, 5);
  EXPECT_EQ(gpu.minor, 2);
  EXPECT_EQ(gpu.memory, size_t{1} << 30);
  EXPECT_EQ(gpu.pci_id, "0000:02:00.0");
  EXPECT_EQ(gpu.uuid, "GPU-fa4e0000-0000-4000-8000-000000000002");
}

TEST_F(GpusTest, LeavesOutGpusThatAreTooOld) {
  const Gpus gpus = Gpus::Find(6.0);
  EXPECT_EQ(gpus.Ordinals(), (std::vector<int32_t>{0, 2}));
  ASSERT_EQ(gpus.too_old().size(), 1u);
  EXPECT_EQ(gpus.too_old()[0].ordinal, 1);
  EXPECT_EQ(gpus.ByOrdinal(1), nullptr);
  EXPECT_EQ(gpus.ByOrdinal(2)->name, "Fake GPU 2");
  EXPECT_EQ(Gpus::Find(7.5).Ordinals(), (std::vector<int32_t>{0, 2}));
  EXPECT_EQ(Gpus::Find(7.6).Ordinals(), (std::vector<int32_t>{0}));
}

TEST_F(GpusTest, SaysWhyThereAreNone) {
  Control::Get().fail("cuDeviceGetCount=999");
  const Gpus gpus = Gpus::Find(0);
  EXPECT_TRUE(gpus.empty());
  EXPECT_TRUE(gpus.driver_failed());
  EXPECT_EQ(gpus.none_because(), "cannot count the GPUs: unknown error (CUDA_ERROR_UNKNOWN)");
}

TEST_F(GpusTest, LeavesOutAGpuThatCannotBeRead) {
  for (const char* function : {"cuDeviceGet", "cuDeviceGetName", "cuDeviceGetAttribute",
                               "cuDeviceTotalMem_v2", "cuDeviceGetUuid", "cuDeviceGetPCIBusId"}) {
    Control::Get().fail((std::string(function) + ":1!=999").c_str());
    const Gpus gpus = Gpus::Find(0);
    EXPECT_EQ(gpus.Ordinals(), (std::vector<int32_t>{1, 2})) << function;
    ASSERT_EQ(gpus.failures().size(), 1u) << function;
    EXPECT_EQ(gpus.failures()[0],
              "cannot read the properties of GPU 0: unknown error (CUDA_ERROR_UNKNOWN)");
  }
}

TEST_F(GpusTest, ReadsMemory) {
  const auto memory = ReadGpuMemory(0);
  ASSERT_TRUE(memory.ok()) << memory.status().message();
  EXPECT_EQ(memory->total_bytes, size_t{1} << 30);
  EXPECT_EQ(memory->total_bytes - memory->free_bytes, 1048576u);
  EXPECT_EQ(ReadGpuMemory(7).status().message(),
            "cannot use GPU 7: invalid device ordinal (CUDA_ERROR_INVALID_DEVICE)");
}

TEST_F(GpusTest, EveryFailureOfAMemoryReadingIsAnError) {
  for (const char* function :
       {"cuDevicePrimaryCtxRetain", "cuCtxPushCurrent_v2", "cuMemGetInfo_v2"}) {
    Control::Get().fail((std::string(function) + "=719").c_str());
    const auto memory = ReadGpuMemory(1);
    EXPECT_FALSE(memory.ok()) << function;
  }
  Control::Get().fail("");
  EXPECT_TRUE(ReadGpuMemory(1).ok());
}

TEST_F(GpusTest, ContextsNest) {
  const CudaDriver& driver = **CudaDriver::Get();
  CuPointer data = 0;
  {
    auto outer = ScopedDevice::Enter(0);
    ASSERT_TRUE(outer.ok());
    {
      auto inner = ScopedDevice::Enter(1);
      ASSERT_TRUE(inner.ok());
      ASSERT_EQ(driver.MemAlloc(&data, 64), kCudaSuccess);
    }
    EXPECT_EQ(Control::Get().allocations(1), 1);
    EXPECT_EQ(driver.MemFree(data), kCudaSuccess);
  }
  EXPECT_EQ(driver.MemAlloc(&data, 64), kCudaInvalidContext);
}

}  // namespace
}  // namespace nereid::device
