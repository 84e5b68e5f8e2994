// SPDX-License-Identifier: Apache-2.0
#include "base/usable_memory.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/temporary_directory.h"

namespace nereid::base {
namespace {

class ControlGroupLimitTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = TemporaryDirectory::Create();
    ASSERT_TRUE(made.ok());
    root_ = std::move(made).value();
  }

  void Write(const std::string& file, const std::string& text) {
    const std::filesystem::path path = root_->path() + "/" + file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text << "\n";
  }

  uint64_t Limit(const std::string& membership) {
    return ControlGroupLimit(root_->path(), membership);
  }

  std::unique_ptr<TemporaryDirectory> root_;
};

TEST_F(ControlGroupLimitTest, TheSmallestOfTheGroupsAboveCounts) {
  Write("a/memory.max", "1000");
  Write("a/b/memory.max", "5000");
  Write("a/b/c/memory.max", "max");
  EXPECT_EQ(Limit("0::/a/b/c\n"), 1000u);
}

TEST_F(ControlGroupLimitTest, AContainerSeesItsLimitAtTheRoot) {
  Write("memory.max", "4096");
  EXPECT_EQ(Limit("0::/kubepods/pod1\n"), 4096u);
  EXPECT_EQ(Limit("0::/\n"), 4096u);
}

TEST_F(ControlGroupLimitTest, VersionOneNamesItsControllers) {
  Write("memory/x/memory.limit_in_bytes", "77");
  Write("memory/y/memory.limit_in_bytes", "11");
  EXPECT_EQ(Limit("3:cpu,cpuacct:/y\n2:blkio,memory:/x\n"), 77u);
}

TEST_F(ControlGroupLimitTest, WithoutALimitThereIsNone) {
  Write("memory.max", "max");
  for (const char* text : {"", "0::/\n", "garbage\n", "1:memory\n", "0::\n", "::\n", "0::x"}) {
    EXPECT_EQ(Limit(text), UINT64_MAX) << text;
  }
}

TEST(UsableMemoryTest, TheProcessOccupiesSome) { EXPECT_GT(ResidentMemoryBytes(), 0u); }

TEST(UsableMemoryTest, IsThatOfAMachine) { EXPECT_GT(UsableMemoryBytes(), uint64_t{64} << 20); }

}  // namespace
}  // namespace nereid::base
