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

TEST_F(ListTest, SaysOfEachEntryWhereItLeads) {
  std::filesystem::create_symlink("a", root_ / "good");
  std::filesystem::create_symlink("file", root_ / "to_file");
  const auto entries = ListEntries(root_.string());
  ASSERT_TRUE(entries.ok());
  std::vector<std::string> directories;
  for (const DirectoryEntry& entry : *entries) {
    if (*LeadsToDirectory(root_.string(), entry)) directories.push_back(entry.name);
    // A file system that does not tell gives the same answer.
    EXPECT_EQ(*LeadsToDirectory(root_.string(), entry),
              *LeadsToDirectory(root_.string(), {entry.name, EntryKind::kUnknown}));
  }
  EXPECT_THAT(directories, ElementsAre("a", "b", "c", "good"));
}

TEST_F(ListTest, AFileIsReadToItsEnd) {
  const std::string path = (root_ / "file").string();
  EXPECT_EQ(ReadFile(path).value(), "x");
  std::ofstream(path, std::ios::trunc) << std::string(100'000, 'y');
  EXPECT_EQ(ReadFile(path).value(), std::string(100'000, 'y'));
  EXPECT_EQ(ReadFile(path, 100'000).value().size(), 100'000u);
  EXPECT_THAT(ReadFile(path, 99'999).status().message(),
              HasSubstr("has 100000 bytes, more than the 99999 allowed"));
  std::ofstream(path, std::ios::trunc).flush();
  EXPECT_EQ(ReadFile(path).value(), "");
}

TEST(ReadFileTest, FilesWithoutASizeHaveContent) {
  EXPECT_THAT(ReadFile("/proc/self/status").value(), HasSubstr("Threads:"));
  EXPECT_EQ(ReadFile("/proc/self/status", 10).status().code(), StatusCode::kInvalidArgument);
}

TEST(ReadFileTest, SaysWhyThereIsNone) {
  EXPECT_EQ(ReadFile("/nonexistent").status().message(),
            "failed to open text file for read /nonexistent: No such file or directory");
  EXPECT_EQ(ReadFile("/").status().message(),
            "failed to open text file for read /: not a regular file");
}

TEST_F(ListTest, SaysWhatIsMissing) {
  EXPECT_EQ(ListDirectory((root_ / "x").string()).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(ListDirectory((root_ / "file").string()).status().code(), StatusCode::kInternal);
}

}  // namespace
}  // namespace nereid::base
