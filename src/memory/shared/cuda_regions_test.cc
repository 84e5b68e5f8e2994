// SPDX-License-Identifier: Apache-2.0
#include "memory/shared/cuda_regions.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "memory/gpu/testing/gpu_bytes.h"
#include "memory/shared/testing/client_gpu_memory.h"

namespace nereid::memory {
namespace {

using base::Status;
using base::StatusCode;

const FakeGpuSetting same_process("NEREID_FAKE_GPU_SAME_PROCESS_IPC", "1");

void ExpectRefused(const Status& status, const std::string& why) {
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("failed to register shared memory region: invalid args"),
            std::string::npos)
      << status.message();
  EXPECT_NE(status.message().find(why), std::string::npos) << status.message();
}

TEST(CudaRegionsTest, ARegionIsTheClientsMemory) {
  const ClientGpuMemory memory(1, 1000);
  WriteGpu(memory.data(), "hello");
  CudaRegions regions;
  ASSERT_TRUE(regions.Register({"r", memory.handle(), 1, 1000}).ok());
  const auto mapping = regions.Find("r");
  ASSERT_NE(mapping, nullptr);
  EXPECT_EQ(ReadGpu(mapping->data(), 5), "hello");
  WriteGpu(mapping->data() + 1, "a");
  EXPECT_EQ(ReadGpu(memory.data(), 5), "hallo");
  const auto list = regions.List();
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0].name, "r");
  EXPECT_EQ(list[0].device_id, 1);
  EXPECT_EQ(list[0].byte_size, 1000u);
  EXPECT_TRUE(list[0].raw_handle.empty()) << "no client learns another one's handle";
}

TEST(CudaRegionsTest, RegistrationsThatAreRefused) {
  const ClientGpuMemory memory(0, 1000);
  CudaRegions regions;
  const std::string handle = memory.handle();
  ExpectRefused(regions.Register({"r", handle, 0, 0}), "'r': its byte_size is 0");
  ExpectRefused(regions.Register({"r", handle, 0, uint64_t{1} << 40}),
                "'r': its byte_size is 1099511627776, but the memory has only ");
  ExpectRefused(regions.Register({"r", handle, -1, 10}), "there is no GPU with the device_id -1");
  ExpectRefused(regions.Register({"r", handle, int64_t{1} << 40, 10}), "there is no GPU");
  ExpectRefused(regions.Register({"r", handle, 7, 10}), "cannot use GPU 7");
  ExpectRefused(regions.Register({"r", "short", 0, 10}), "has 5 bytes, expected 64");
  ExpectRefused(regions.Register({"r", std::string(64, '\xff'), 0, 10}),
                "cannot open the handle of the memory on GPU 0");
  EXPECT_EQ(regions.Register({std::string(1025, 'n'), handle, 0, 10}).code(),
            StatusCode::kInvalidArgument);
  EXPECT_TRUE(regions.List().empty());
}

TEST(CudaRegionsTest, NamesAndTheirNumber) {
  const ClientGpuMemory memory(0, 1000);
  CudaRegions regions(2);
  ASSERT_TRUE(regions.Register({"a", memory.handle(), 0, 10}).ok());
  EXPECT_EQ(regions.Register({"a", memory.handle(), 0, 10}).message(),
            "shared memory region 'a' already in manager");
  ASSERT_TRUE(regions.Register({"b", memory.handle(), 0, 10}).ok());
  EXPECT_EQ(regions.Register({"c", memory.handle(), 0, 10}).message(),
            "cannot register CUDA shared memory region 'c': there are 2 regions, which is the "
            "maximum. Unregister some first");
  regions.Unregister("absent");
  regions.Unregister("a");
  EXPECT_EQ(regions.Find("a"), nullptr);
  ASSERT_TRUE(regions.Register({"c", memory.handle(), 0, 10}).ok());
  regions.UnregisterAll();
  EXPECT_TRUE(regions.List().empty());
}

TEST(CudaRegionsTest, ARegionInUseStaysOpen) {
  const ClientGpuMemory memory(0, 1000);
  CudaRegions regions;
  ASSERT_TRUE(regions.Register({"r", memory.handle(), 0, 1000}).ok());
  auto mapping = regions.Find("r");
  const long before = fake_gpu::Control::Get().calls("cuIpcCloseMemHandle");
  regions.Unregister("r");
  WriteGpu(mapping->data(), "x");
  EXPECT_EQ(fake_gpu::Control::Get().calls("cuIpcCloseMemHandle"), before);
  mapping.reset();
  EXPECT_EQ(fake_gpu::Control::Get().calls("cuIpcCloseMemHandle"), before + 1);
}

TEST(CudaRegionsTest, EveryCallThatFailsRefusesTheRegion) {
  const ClientGpuMemory memory(0, 1000);
  const std::string handle = memory.handle();
  for (const char* const function :
       {"cuCtxPushCurrent_v2", "cuIpcOpenMemHandle_v2", "cuMemGetAddressRange_v2"}) {
    CudaRegions regions;
    {
      const ScopedGpuFailure failure(std::string(function) + "=999");
      ExpectRefused(regions.Register({"r", handle, 0, 10}), "'r': cannot ");
    }
    EXPECT_TRUE(regions.Register({"r", handle, 0, 10}).ok()) << function;
  }
}

}  // namespace
}  // namespace nereid::memory
