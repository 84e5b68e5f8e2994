// SPDX-License-Identifier: Apache-2.0
#include "device/shared_allocation.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <cstring>
#include <string>
#include <utility>

#include "../../tests/fake_gpu/control.h"
#include "device/context.h"
#include "device/cuda_driver.h"

namespace nereid::device {
namespace {

using fake_gpu::Control;

constexpr size_t kUnit = size_t{2} << 20;

size_t Used() { return Control::Get().allocated_bytes(0); }

char* Host(const SharedAllocation& memory) {
  return static_cast<char*>(
      Control::Get().host_address(reinterpret_cast<uint64_t>(memory.data()), memory.size()));
}

class SharedAllocationTest : public ::testing::Test {
 protected:
  void TearDown() override { Control::Get().fail(""); }
};

TEST_F(SharedAllocationTest, BothMappingsHaveTheSameContent) {
  const size_t before = Used();
  {
    base::UniqueFd file;
    auto made = SharedAllocation::Create(0, 10, &file);
    ASSERT_TRUE(made.ok()) << made.status().message();
    EXPECT_EQ((*made)->size(), kUnit);
    EXPECT_EQ((*made)->ordinal(), 0);
    EXPECT_EQ(Used(), before + kUnit);
    auto opened = SharedAllocation::Open(0, kUnit, file.get());
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    EXPECT_NE((*opened)->data(), (*made)->data());
    std::memcpy(Host(**made), "seen", 4);
    EXPECT_EQ(std::string(Host(**opened), 4), "seen");
    made = base::Status::Internal("dropped");
    EXPECT_EQ(std::string(Host(**opened), 4), "seen") << "the other one keeps the memory";
  }
  EXPECT_EQ(Used(), before);
}

TEST_F(SharedAllocationTest, AnotherProcessSeesIt) {
  base::UniqueFd file;
  const auto made = SharedAllocation::Create(0, kUnit, &file);
  ASSERT_TRUE(made.ok());
  std::memset(Host(**made), 'a', kUnit);
  const pid_t child = fork();
  if (child == 0) {
    const auto opened = SharedAllocation::Open(0, kUnit, file.get());
    if (!opened.ok() || Host(**opened)[kUnit - 1] != 'a') _exit(1);
    Host(**opened)[0] = 'b';
    _exit(0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(Host(**made)[0], 'b');
}

TEST_F(SharedAllocationTest, RefusesWhatIsNoMemoryOfAGpu) {
  const base::UniqueFd file(memfd_create("other", MFD_CLOEXEC));
  const auto other = SharedAllocation::Open(0, kUnit, file.get());
  ASSERT_FALSE(other.ok());
  EXPECT_NE(other.status().message().find("cannot open 2097152 bytes of shared memory on GPU 0"),
            std::string::npos)
      << other.status().message();
  base::UniqueFd shared;
  const auto made = SharedAllocation::Create(0, kUnit, &shared);
  EXPECT_FALSE(SharedAllocation::Open(0, 2 * kUnit, shared.get()).ok()) << "is not that large";
  EXPECT_FALSE(SharedAllocation::Open(7, kUnit, shared.get()).ok()) << "there is no such GPU";
  EXPECT_FALSE(SharedAllocation::Open(0, kUnit, -1).ok());
}

TEST_F(SharedAllocationTest, EveryFailureOfTheDriverLeavesNothing) {
  const size_t before = Used();
  for (const char* function : {"cuMemCreate", "cuMemExportToShareableHandle", "cuMemAddressReserve",
                               "cuMemMap", "cuMemSetAccess", "cuMemGetAllocationGranularity"}) {
    Control::Get().fail((std::string(function) + "=2").c_str());
    base::UniqueFd file;
    const auto made = SharedAllocation::Create(0, kUnit, &file);
    ASSERT_FALSE(made.ok()) << function;
    EXPECT_EQ(made.status().code(), base::StatusCode::kUnavailable) << function;
    Control::Get().fail("");
    EXPECT_EQ(Used(), before) << function;
  }
  base::UniqueFd file;
  EXPECT_FALSE(SharedAllocation::Create(0, 0, &file).ok());
  EXPECT_FALSE(SharedAllocation::Create(0, SIZE_MAX, &file).ok());
}

TEST_F(SharedAllocationTest, AChildDoesNotInheritTheFile) {
  base::UniqueFd file;
  ASSERT_TRUE(SharedAllocation::Create(0, kUnit, &file).ok());
  EXPECT_NE(fcntl(file.get(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST_F(SharedAllocationTest, AGpuHasAUuid) {
  const auto uuid = UuidOf(0);
  ASSERT_TRUE(uuid.ok());
  EXPECT_NE(std::string(uuid->bytes, sizeof(uuid->bytes)), std::string(sizeof(uuid->bytes), '\0'));
  EXPECT_FALSE(UuidOf(5).ok());
}

}  // namespace
}  // namespace nereid::device
