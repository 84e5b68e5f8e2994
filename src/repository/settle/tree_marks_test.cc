// SPDX-License-Identifier: Apache-2.0
#include "repository/settle/tree_marks.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "base/temporary_directory.h"

namespace nereid::repository {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kSecond = 1'000'000'000;

/// A model in a file system that is made of marks. Each new file gets an inode of its own.
class MarkedModel {
 public:
  void Directory(const std::string& path, int64_t born_ns) { Add(path, true, born_ns); }
  void File(const std::string& path, int64_t changed_ns) { Add(path, false, changed_ns); }
  void MoveHere(const std::string& path, int64_t now_ns) { marks_[path].changed_ns = now_ns; }
  const TreeMarks& marks() const { return marks_; }
  TreeMarks& marks() { return marks_; }

 private:
  void Add(const std::string& path, bool is_directory, int64_t now_ns) {
    marks_[path] = {is_directory, 1, ++inode_, 1, now_ns, now_ns, now_ns};
  }
  TreeMarks marks_;
  uint64_t inode_ = 0;
};

/// A model that was written at 10 s.
MarkedModel Model() {
  MarkedModel model;
  model.Directory("", 10 * kSecond);
  model.File("config.pbtxt", 10 * kSecond);
  model.Directory("1", 10 * kSecond);
  model.File("1/model", 10 * kSecond);
  return model;
}

TEST(ArrivedWholeTest, AnOldDirectoryThatWasNotThereWasMoved) {
  MarkedModel model = Model();
  model.MoveHere("", 25 * kSecond);
  const LastScan last{.wall_ns = 20 * kSecond};
  EXPECT_TRUE(ArrivedWhole(last, model.marks()));
  EXPECT_FALSE(ArrivedWhole({.wall_ns = 10 * kSecond + 1}, model.marks())) << "too close";
  model.marks()[""].modified_ns = 25 * kSecond;
  EXPECT_FALSE(ArrivedWhole(last, model.marks())) << "an entry was deleted or added";
  model.marks()[""].modified_ns = 10 * kSecond;
  model.File("1/late", 26 * kSecond);
  EXPECT_FALSE(ArrivedWhole(last, model.marks())) << "it is written after the move";
}

TEST(ArrivedWholeTest, ADirectoryThatIsYoungerThanTheScanIsBeingCopied) {
  EXPECT_FALSE(ArrivedWhole({.wall_ns = 9 * kSecond}, Model().marks()));
}

TEST(ArrivedWholeTest, AFileSystemWithoutTimesOfBirthShowsNothing) {
  MarkedModel model = Model();
  model.MoveHere("", 25 * kSecond);
  model.marks()[""].born_ns = 0;
  EXPECT_FALSE(ArrivedWhole({.wall_ns = 20 * kSecond}, model.marks()));
}

TEST(ArrivedWholeTest, AnotherDirectoryInTheSamePlaceWasMoved) {
  const MarkedModel before = Model();
  MarkedModel now = Model();
  now.marks()[""].inode = 100;
  now.MoveHere("", 25 * kSecond);
  LastScan last{.marks = &before.marks(), .wall_ns = 20 * kSecond};
  EXPECT_TRUE(ArrivedWhole(last, now.marks()));
}

TEST(ArrivedWholeTest, AVersionMayArriveAlone) {
  const MarkedModel before = Model();
  MarkedModel now = Model();
  now.Directory("2", 12 * kSecond);
  now.File("2/model", 12 * kSecond);
  now.MoveHere("2", 25 * kSecond);
  LastScan last{.marks = &before.marks(), .was_accepted = true, .wall_ns = 20 * kSecond};
  EXPECT_TRUE(ArrivedWhole(last, now.marks()));
  last.was_accepted = false;
  EXPECT_FALSE(ArrivedWhole(last, now.marks())) << "other files wait";
  last.was_accepted = true;
  now.marks()["config.pbtxt"].changed_ns = 24 * kSecond;
  EXPECT_FALSE(ArrivedWhole(last, now.marks())) << "the configuration changes, too";
}

TEST(ArrivedWholeTest, ADirectoryThatIsNoVersionMustSettle) {
  const MarkedModel before = Model();
  MarkedModel now = Model();
  now.Directory("warmup", 12 * kSecond);
  now.MoveHere("warmup", 25 * kSecond);
  EXPECT_FALSE(ArrivedWhole(
      {.marks = &before.marks(), .was_accepted = true, .wall_ns = 20 * kSecond}, now.marks()));
}

class ReadTreeMarksTest : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ = base::TemporaryDirectory::Create().value();
    root_ = fs::path(directory_->path()) / "m";
    fs::create_directories(root_ / "1");
    Write("config.pbtxt", "a");
    Write("1/model", "a");
  }
  void Write(const std::string& path, const std::string& content) {
    std::ofstream(root_ / path) << content;
  }
  TreeMarks Read() const { return ReadTreeMarks(root_.string()).value(); }
  static void WaitForTick() { std::this_thread::sleep_for(std::chrono::milliseconds(15)); }

  std::unique_ptr<base::TemporaryDirectory> directory_;
  fs::path root_;
};

TEST_F(ReadTreeMarksTest, SeesEveryChangeButThoseOfRuntimes) {
  TreeMarks before = Read();
  EXPECT_EQ(before.size(), 4u);
  const auto change = [&] {
    const TreeMarks now = Read();
    const std::string found = FindChange(before, now, /*with_additions=*/true);
    EXPECT_EQ(Fingerprint(before) != Fingerprint(now), !found.empty());
    before = now;
    return found;
  };
  EXPECT_EQ(change(), "");
  Write("1/model", "longer");
  EXPECT_EQ(change(), "1/model");
  // The same size, and the modification time is set back: the change time tells.
  const auto time = fs::last_write_time(root_ / "1/model");
  WaitForTick();
  Write("1/model", "LONGER");
  fs::last_write_time(root_ / "1/model", time);
  EXPECT_EQ(change(), "1/model");
  Write("1/new", "");
  EXPECT_EQ(FindChange(before, Read(), /*with_additions=*/false), "");
  EXPECT_EQ(change(), "1/new");
  fs::create_directories(root_ / "1" / "__pycache__");
  Write("1/__pycache__/model.pyc", "");
  EXPECT_EQ(change(), "");
  fs::remove_all(root_ / "1");
  EXPECT_EQ(change(), "1");
  EXPECT_EQ(ReadTreeMarks("/nonexistent").status().code(), base::StatusCode::kNotFound);
}

TEST_F(ReadTreeMarksTest, ALinkToAParentEnds) {
  fs::create_directory_symlink("..", root_ / "1" / "up");
  EXPECT_EQ(Read().size(), 5u);
}

TEST_F(ReadTreeMarksTest, AMoveIsRecognizedOnDisk) {
  if (Read().at("").born_ns == 0) GTEST_SKIP() << "the file system tells no time of birth";
  const fs::path staged = fs::path(directory_->path()) / "staged";
  fs::rename(root_, staged);
  const int64_t scan_ns = LatestChangeNs(ReadTreeMarks(staged.string()).value()) + kSecond;
  fs::rename(staged, root_);
  EXPECT_TRUE(ArrivedWhole({.wall_ns = scan_ns}, Read()));
  // A copy is younger than the scan before it.
  EXPECT_FALSE(ArrivedWhole({.wall_ns = scan_ns - 10 * kSecond}, Read()));
}

}  // namespace
}  // namespace nereid::repository
