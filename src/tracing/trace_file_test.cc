// SPDX-License-Identifier: Apache-2.0
#include "tracing/trace_file.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <filesystem>
#include <memory>
#include <thread>

#include "base/files.h"
#include "request/trace.h"
#include "tracing/trace_sampling.h"

namespace nereid::tracing {
namespace {

class TraceFileTest : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  // Returns the content of a file; "" if it does not exist.
  std::string Content(const std::string& name) const {
    const auto text = base::ReadFile(folder_ + name);
    return text.ok() ? *text : "";
  }
  api::TraceSettings Settings(uint32_t rate, int32_t count, uint32_t log_frequency) const {
    api::TraceSettings settings;
    settings.level = kLevel;
    settings.rate = rate;
    settings.count = count;
    settings.log_frequency = log_frequency;
    settings.file = folder_ + "t";
    return settings;
  }
  // Makes one more request of `sampling`, whose trace is `entry`.
  static void Request(TraceSampling& sampling, const std::string& entry) {
    if (sampling.Choose()) sampling.Collect(entry);
  }

  // Returns when all entries are written or dropped.
  static void WaitFor(const TraceFile& file) {
    while (file.waiting() > 0) std::this_thread::yield();
  }

  static constexpr uint32_t kLevel = request::kTraceTimestamps;
  const std::string folder_ = ::testing::TempDir() + "trace_file_test_" +
                              ::testing::UnitTest::GetInstance()->current_test_info()->name() + "/";
};

TEST_F(TraceFileTest, IsAnArrayWithAnyNumberOfParts) {
  {
    TraceFile file(folder_ + "t");
    file.Append("1");
    file.Append("2,3");
    file.WriteNumbered("4");
    file.Append("5");
    file.WriteNumbered("6");
  }
  EXPECT_EQ(Content("t"), "[1,2,3,5]");
  EXPECT_EQ(Content("t.0"), "[4]");
  EXPECT_EQ(Content("t.1"), "[6]");
  // The next server starts a new file.
  TraceFile(folder_ + "t").Append("7");
  EXPECT_EQ(Content("t"), "[7]");
}

TEST_F(TraceFileTest, DropsUnwritableEntries) {
  TraceFile(folder_ + "no/such/folder/t").Append("1");
  TraceFile(folder_).Append("1");  // a folder
  TraceFile(folder_ + std::string(5000, 'x')).WriteNumbered("1");
  TraceFile(folder_ + "t", /*max_waiting=*/3).Append("1,2,3");
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

/// Limits the size of the process's files to `bytes`, like a full disk.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    handler_ = ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  sighandler_t handler_;
};

TEST_F(TraceFileTest, AFullDiskLeavesTheArrayThatWasThere) {
  TraceFile(folder_ + "t").Append("0");
  auto file = std::make_unique<TraceFile>(folder_ + "t");
  file->Append("1,2");
  WaitFor(*file);
  {
    const FullDisk full(8);
    file->Append("3,4,5,6,7");
    file->WriteNumbered("3,4,5,6,7");
    WaitFor(*file);
    EXPECT_EQ(Content("t"), "[1,2]");
    EXPECT_FALSE(std::filesystem::exists(folder_ + "t.0"));
  }
  // The disk has space again.
  file->Append("8");
  file->WriteNumbered("9");
  file.reset();
  EXPECT_EQ(Content("t"), "[1,2,8]");
  EXPECT_EQ(Content("t.0"), "[9]");
}

TEST_F(TraceFileTest, AFileThatCannotBeOpenedIsOpenedLater) {
  auto file = std::make_unique<TraceFile>(folder_ + "t");
  {
    const FullDisk full(3);
    file->Append("1,2,3");
    WaitFor(*file);
    EXPECT_FALSE(std::filesystem::exists(folder_ + "t"));
  }
  file->Append("4");
  file.reset();
  EXPECT_EQ(Content("t"), "[4]");
}

TEST_F(TraceFileTest, OneRequestInRateIsTraced) {
  auto file = std::make_shared<TraceFile>(folder_ + "t");
  {
    TraceSampling sampling(Settings(3, -1, 0), file);
    for (int i = 1; i <= 7; ++i) Request(sampling, std::to_string(i));
    EXPECT_EQ(sampling.settings().count, -1);
  }
  file.reset();
  EXPECT_EQ(Content("t"), "[3,6]");
}

TEST_F(TraceFileTest, NumberedFilesHoldLogFrequencyTraces) {
  auto file = std::make_shared<TraceFile>(folder_ + "t");
  {
    TraceSampling sampling(Settings(1, -1, 2), file);
    for (int i = 1; i <= 5; ++i) Request(sampling, std::to_string(i));
    // A trace without entries counts.
    TraceSampling other(Settings(1, -1, 2), file);
    Request(other, "");
    Request(other, "8");
  }
  file.reset();
  EXPECT_EQ(Content("t.0"), "[1,2]");
  EXPECT_EQ(Content("t.1"), "[3,4]");
  EXPECT_EQ(Content("t.2"), "[8]");
  EXPECT_EQ(Content("t.3"), "[5]");
  EXPECT_EQ(Content("t"), "");
}

TEST_F(TraceFileTest, ACountEndsWithANumberedFile) {
  auto file = std::make_shared<TraceFile>(folder_ + "t");
  {
    TraceSampling sampling(Settings(1, 3, 0), file);
    for (int i = 1; i <= 5; ++i) Request(sampling, std::to_string(i));
    EXPECT_EQ(sampling.settings().count, 0);
    TraceSampling none(Settings(1, 0, 0), file);
    EXPECT_FALSE(none.Choose());
    TraceSampling never(Settings(0, -1, 0), file);
    EXPECT_FALSE(never.Choose());
    TraceSampling nowhere(Settings(1, -1, 0), nullptr);
    EXPECT_FALSE(nowhere.Choose());
  }
  file.reset();
  EXPECT_EQ(Content("t"), "");
  EXPECT_EQ(Content("t.0"), "[1,2,3]");
}

}  // namespace
}  // namespace nereid::tracing
