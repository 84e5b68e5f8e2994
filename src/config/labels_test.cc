// SPDX-License-Identifier: Apache-2.0
#include "config/labels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace nereid::config {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(ParseLabels, SplitsLines) {
  EXPECT_THAT(ParseLabels("cat\ndog\r\n\nlast"), ElementsAre("cat", "dog", "", "last"));
  EXPECT_THAT(ParseLabels("one\n"), ElementsAre("one"));
  EXPECT_THAT(ParseLabels(""), IsEmpty());
  EXPECT_THAT(ParseLabels("\xEF\xBB\xBFone\r\ntwo\r\n"), ElementsAre("one", "two"))
      << "the byte order mark of an editor is no part of the first label";
  EXPECT_THAT(ParseLabels("\xEF\xBB\xBF"), IsEmpty());
}

class LabelFileTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::temp_directory_path() / ("nereid_labels_" + std::to_string(::getpid()));
    fs::create_directories(root_ / "m" / "sub");
    std::ofstream(root_ / "m" / "labels.txt") << "a\nb\n";
    std::ofstream(root_ / "outside.txt") << "secret\n";
    fs::create_symlink(root_ / "outside.txt", root_ / "m" / "link.txt");
  }
  void TearDown() override { fs::remove_all(root_); }

  base::Result<std::vector<std::string>> Read(const std::string& name) {
    return ReadLabelFile((root_ / "m").string(), name);
  }

  fs::path root_;
};

TEST_F(LabelFileTest, ReadsAFileOfTheModel) {
  const auto labels = Read("sub/../labels.txt");
  ASSERT_TRUE(labels.ok()) << labels.status().message();
  EXPECT_THAT(*labels, ElementsAre("a", "b"));
}

TEST_F(LabelFileTest, StaysInTheModelDirectory) {
  for (const std::string name : {"../outside.txt", "link.txt", "sub/../../outside.txt"}) {
    EXPECT_EQ(Read(name).status().code(), base::StatusCode::kUnsupported) << name;
  }
  EXPECT_EQ(Read((root_ / "m" / "labels.txt").string()).status().code(),
            base::StatusCode::kUnsupported);
}

TEST_F(LabelFileTest, MissingFilesAreFailures) {
  EXPECT_EQ(Read("none.txt").status().code(), base::StatusCode::kNotFound);
  EXPECT_FALSE(Read("sub").ok());
}

}  // namespace
}  // namespace nereid::config
