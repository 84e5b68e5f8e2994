// SPDX-License-Identifier: Apache-2.0
#include "base/cpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "base/threads.h"

namespace nereid::base {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

class CpuFilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::path(::testing::TempDir()) / ("cpus_" + std::to_string(getpid()));
    fs::create_directories(root_);
  }
  void TearDown() override { fs::remove_all(root_); }
  void Write(const std::string& name, const std::string& text) {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }
  fs::path root_;
};

std::vector<int> Allowed() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof(set), &set);
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

TEST(CpuList, ReadsAndWritesRanges) {
  EXPECT_THAT(ParseCpuList("0-3,8").value(), ElementsAre(0, 1, 2, 3, 8));
  EXPECT_THAT(ParseCpuList("5,1,5,0-1").value(), ElementsAre(0, 1, 5));
  EXPECT_EQ(FormatCpuList({0, 1, 2, 3, 8}), "0-3,8");
  EXPECT_EQ(FormatCpuList({2, 4, 5}), "2,4-5");
  EXPECT_EQ(FormatCpuList({}), "");
}

TEST(CpuList, RefusesWhatIsNone) {
  for (const char* text : {"", ",", "1,", "a", "3-1", "1-", "-1", "0-1024", "99999999999", "1 "}) {
    EXPECT_FALSE(ParseCpuList(text).ok()) << text;
  }
}

TEST_F(CpuFilesTest, QuotaOfVersionTwo) {
  EXPECT_EQ(CpuQuota(root_), std::nullopt);
  Write("cpu.max", "max 100000\n");
  EXPECT_EQ(CpuQuota(root_), std::nullopt);
  Write("cpu.max", "150000 100000\n");
  EXPECT_EQ(CpuQuota(root_), 1.5);
  Write("cpu.max", "150000\n");
  EXPECT_EQ(CpuQuota(root_), std::nullopt);
}

TEST_F(CpuFilesTest, QuotaOfVersionOne) {
  Write("cpu/cpu.cfs_period_us", "100000\n");
  Write("cpu/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(CpuQuota(root_), std::nullopt);
  Write("cpu/cpu.cfs_quota_us", "400000\n");
  EXPECT_EQ(CpuQuota(root_), 4.0);
}

TEST_F(CpuFilesTest, NodesAndWhatIsMissing) {
  Write("node0/cpulist", "0-1,4\n");
  Write("node1/cpulist", "\n");
  EXPECT_THAT(CpusOfNode(0, root_).value(), ElementsAre(0, 1, 4));
  EXPECT_THAT(CpusOfNode(1, root_).value(), ElementsAre());
  EXPECT_EQ(CpusOfNode(7, root_).status().message(), "this machine has no NUMA node 7");
  EXPECT_FALSE(CheckPlacement({{}, 7}, root_).ok());
  EXPECT_TRUE(CheckPlacement({{}, 1}, root_).ok());
  EXPECT_TRUE(CheckPlacement({Allowed(), std::nullopt}, root_).ok());
  const Status missing = CheckPlacement({{1023}, std::nullopt}, root_);
  EXPECT_THAT(missing.message(), ::testing::StartsWith("CPU 1023 is not there"));
}

TEST(Placement, HoldsForAScopeAndForThreadsStartedInIt) {
  const std::vector<int> before = Allowed();
  const std::vector<int> one = {before.back()};
  std::vector<int> inherited;
  {
    ScopedPlacement placement({one, std::nullopt});
    EXPECT_EQ(Allowed(), one);
    StartThread("child", [&] { inherited = Allowed(); }).value().join();
  }
  EXPECT_EQ(inherited, one);
  EXPECT_EQ(Allowed(), before);
}

TEST(Placement, OfAThreadThatIsStarted) {
  const std::vector<int> one = {Allowed().front()};
  std::vector<int> seen;
  StartThread("placed", [&] { seen = Allowed(); }, {one, std::nullopt}).value().join();
  EXPECT_EQ(seen, one);
}

TEST(UsableCpus, AreAtMostTheAllowedOnes) {
  EXPECT_GE(UsableCpuCount(), 1);
  EXPECT_LE(UsableCpuCount(), AvailableCpuCount());
}

}  // namespace
}  // namespace nereid::base
