// SPDX-License-Identifier: Apache-2.0
#include "checksum/checksum.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace nereid::checksum {
namespace {

namespace fs = std::filesystem;

class ChecksumTest : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::temp_directory_path() / ("nereid_checksum_test_" + std::to_string(getpid()));
    fs::create_directories(root_ / "1");
    std::ofstream(root_ / "1" / "model") << "abc";
    std::ofstream(root_ / "empty");
    // Longer than the pieces that are read at a time.
    std::ofstream(root_ / "long") << std::string(2'500'000, 'a');
  }
  void TearDown() override { fs::remove_all(root_); }
  std::string Check(const Parameters& parameters) { return CheckFiles(root_.string(), parameters); }
  fs::path root_;
};

constexpr const char* kAbc = "900150983cd24fb0d6963f7d28e17f72";

TEST_F(ChecksumTest, RightHashesPass) {
  EXPECT_EQ(Check({}), "");
  EXPECT_EQ(Check({{"MD5:1/model", kAbc}, {"md5:empty", "d41d8cd98f00b204e9800998ecf8427e"}}), "");
  EXPECT_EQ(Check({{"MD5:1/model", "900150983CD24FB0D6963F7D28E17F72"}}), "");
  EXPECT_EQ(Check({{"MD5:long", "810b761e68a4f58192e0448bc415517e"}}), "");
}

TEST_F(ChecksumTest, WrongOnesSayWhatWasFound) {
  EXPECT_EQ(Check({{"MD5:1/model", "00"}}),
            std::string("Mismatched MD5 hash for file 1/model, expect: 00, got: ") + kAbc);
}

TEST_F(ChecksumTest, WhatCannotBeReadIsRefused) {
  EXPECT_EQ(Check({{"1/model", kAbc}}), "failed to parse key: 1/model");
  EXPECT_EQ(Check({{"SHA1:1/model", kAbc}}), "Unsupported checksum algorithm: SHA1");
  EXPECT_EQ(Check({{"MD5:absent", kAbc}}), "failed to open file " + (root_ / "absent").string());
  EXPECT_EQ(Check({{"MD5:1", kAbc}}), "failed to open file " + (root_ / "1").string());
  EXPECT_EQ(Check({{"MD5:../x", kAbc}}), "file '../x' is outside the model directory");
  EXPECT_EQ(Check({{"MD5:/etc/passwd", kAbc}}),
            "file '/etc/passwd' is outside the model directory");
  EXPECT_EQ(Check({{"MD5:", kAbc}}), "file '' is outside the model directory");
}

}  // namespace
}  // namespace nereid::checksum
