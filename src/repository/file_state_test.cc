// SPDX-License-Identifier: Apache-2.0
#include "repository/file_state.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/temporary_directory.h"

namespace nereid::repository {
namespace {

namespace fs = std::filesystem;

class FileStateTest : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ = base::TemporaryDirectory::Create().value();
    root_ = directory_->path();
    fs::create_directories(root_ / "1" / "deep");
    fs::create_directories(root_ / "2");
    Write("config.pbtxt", "a");
    Write("labels.txt", "a");
    Write("1/deep/weights", "a");
  }
  void Write(const std::string& path, const std::string& content) {
    std::ofstream(root_ / path) << content;
  }
  FileState State() const { return ReadFileState(root_.string()).value(); }

  std::unique_ptr<base::TemporaryDirectory> directory_;
  fs::path root_;
};

TEST_F(FileStateTest, ReadingChangesNothing) {
  const FileState before = State();
  std::ifstream(root_ / "config.pbtxt").get();
  EXPECT_EQ(State(), before);
  EXPECT_EQ(before.entries.size(), 4u);
  EXPECT_EQ(ReadFileState("/nonexistent").status().code(), base::StatusCode::kNotFound);
}

TEST_F(FileStateTest, EveryChangeOfAFileShows) {
  FileState before = State();
  const auto changed = [&] {
    const FileState now = State();
    const bool differs = !(now == before);
    before = now;
    return differs;
  };
  Write("1/deep/weights", "longer");
  EXPECT_TRUE(changed());
  // An older time than the one that was seen is a change as well.
  fs::last_write_time(root_ / "1/deep/weights",
                      fs::last_write_time(root_ / "1/deep/weights") - std::chrono::hours(1));
  EXPECT_TRUE(changed());
  Write("note.txt", "");
  EXPECT_TRUE(changed());
  fs::remove(root_ / "note.txt");
  EXPECT_TRUE(changed());
  fs::rename(root_ / "labels.txt", root_ / "other.txt");
  EXPECT_TRUE(changed());
  EXPECT_FALSE(changed());
}

TEST_F(FileStateTest, ALinkToAParentEnds) {
  fs::create_directory_symlink("..", root_ / "1" / "up");
  EXPECT_EQ(State().entries.size(), 4u);
}

TEST_F(FileStateTest, AVersionIsUnchangedWhenOnlyOthersAndTheConfigurationChange) {
  const FileState before = State();
  Write("config.pbtxt", "longer");
  Write("2/weights", "a");
  fs::create_directories(root_ / "3");
  EXPECT_TRUE(VersionUnchanged(before, State(), 1));
  EXPECT_FALSE(VersionUnchanged(before, State(), 2));
  EXPECT_FALSE(VersionUnchanged(before, State(), 3));
  // A directory that is no version is everybody's.
  fs::create_directories(root_ / "1_old");
  EXPECT_FALSE(VersionUnchanged(before, State(), 1));
}

TEST_F(FileStateTest, AFileBesideTheVersionsConcernsAllOfThem) {
  const FileState before = State();
  Write("labels.txt", "longer");
  EXPECT_FALSE(VersionUnchanged(before, State(), 1));
}

}  // namespace
}  // namespace nereid::repository
