// SPDX-License-Identifier: Apache-2.0
// Lists of directories: whole, or a failure.
#include "base/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "base/temporary_directory.h"
#include "base/testing/failing_readdir.h"

namespace nereid::base {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ListTest : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ = TemporaryDirectory::Create().value();
    root_ = std::filesystem::path(directory_->path());
    for (const char* name : {"a", "b", "c"}) std::filesystem::create_directories(root_ / name);
    std::ofstream(root_ / "file") << "x";
  }

  std::unique_ptr<TemporaryDirectory> directory_;
  std::filesystem::path root_;
};

TEST_F(ListTest, AListThatBreaksOffIsAFailure) {
  {
    const testing::FailingReaddir failing(root_.string(), EIO);
    EXPECT_EQ(ListSubdirectories(root_.string()).status().code(), StatusCode::kInternal);
    EXPECT_THAT(ListDirectory(root_.string()).status().message(),
                HasSubstr("failed to read directory " + root_.string()));
  }
  EXPECT_THAT(*ListSubdirectories(root_.string()), ElementsAre("a", "b", "c"));
}

TEST_F(ListTest, LinksThatLeadNowhereAreNoDirectories) {
  std::filesystem::create_symlink("a", root_ / "good");
  std::filesystem::create_symlink("nothing", root_ / "dangling");
  std::filesystem::create_symlink("circle", root_ / "circle");
  EXPECT_THAT(*ListSubdirectories(root_.string()), ElementsAre("a", "b", "c", "good"));
  EXPECT_THAT(*ListDirectory(root_.string()),
              ElementsAre("a", "b", "c", "circle", "dangling", "file", "good"));
}

TEST_F(ListTest, SaysWhatIsMissing) {
  EXPECT_EQ(ListDirectory((root_ / "x").string()).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(ListDirectory((root_ / "file").string()).status().code(), StatusCode::kInternal);
}

}  // namespace
}  // namespace nereid::base
