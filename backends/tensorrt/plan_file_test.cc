// SPDX-License-Identifier: Apache-2.0
#include "tensorrt/plan_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <vector>

namespace nereid::tensorrt {
namespace {

class PlanFileTest : public ::testing::Test {
 protected:
  ~PlanFileTest() override { std::filesystem::remove(path_); }
  void Write(size_t size) { std::ofstream(path_) << std::string(size, 'p'); }

  const std::string path_ = (std::filesystem::temp_directory_path() / "nereid_plan_file").string();
};

TEST_F(PlanFileTest, IsReadInPlace) {
  Write(10000);
  PlanFile file;
  ASSERT_TRUE(file.Open(path_).ok());
  EXPECT_EQ(std::string(file.data(), file.size()), std::string(10000, 'p'));
  EXPECT_FALSE(file.IsBroken());
}

TEST_F(PlanFileTest, AFileThatBecomesShorterReadsAsZeros) {
  Write(100000);
  PlanFile file;
  ASSERT_TRUE(file.Open(path_).ok());
  ASSERT_EQ(truncate(path_.c_str(), 10), 0);
  EXPECT_EQ(file.data()[99999], '\0');
  EXPECT_TRUE(file.IsBroken());
}

TEST_F(PlanFileTest, WhatIsNoFile) {
  const auto open = [](const std::string& path) {
    PlanFile file;
    return file.Open(path).message();
  };
  EXPECT_EQ(open(path_),
            "the TensorRT plan '" + path_ + "' cannot be read: No such file or directory");
  EXPECT_EQ(open("/dev/zero"), "the TensorRT plan '/dev/zero' is not a regular file");
  EXPECT_EQ(open("/tmp"), "the TensorRT plan '/tmp' is not a regular file");
  Write(0);
  EXPECT_EQ(open(path_), "the TensorRT plan '" + path_ + "' is empty");
}

TEST_F(PlanFileTest, ManyFilesAtOnce) {
  Write(5000);
  std::vector<std::unique_ptr<PlanFile>> files;
  for (int i = 0; i < 64; ++i) {
    ASSERT_TRUE(files.emplace_back(std::make_unique<PlanFile>())->Open(path_).ok());
  }
  EXPECT_EQ(PlanFile().Open(path_).message(),
            "more than 64 TensorRT plans are being read; load '" + path_ + "' again later");
  files.pop_back();
  EXPECT_TRUE(PlanFile().Open(path_).ok());
}

}  // namespace
}  // namespace nereid::tensorrt
