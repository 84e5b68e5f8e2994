// SPDX-License-Identifier: Apache-2.0
// What ModelLifecycle loads while files are written: on a real disk, with a clock of the test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "repository/mirror/digest.h"
#include "repository/testing/repository_fixture.h"

namespace nereid::repository {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* kPlain =
    "backend: \"b\" "
    "input { name: \"I\" data_type: TYPE_FP32 dims: 1 } "
    "output { name: \"O\" data_type: TYPE_FP32 dims: 1 }";
constexpr uint64_t kSecond = 1'000'000'000;

class SettledLoadsTest : public RepositoryTest {
 protected:
  void Start(uint64_t settle_ns) {
    options_.settle = {settle_ns, &clock_};
    options_.poll.storage = LocalStorage(/*counts_change_times=*/settle_ns > 0);
    lifecycle_.emplace(options_, loader_);
  }
  void TearDown() override { lifecycle_.reset(); }

  /// Polls after `seconds`, and returns what the loader did.
  std::vector<std::string> PollAfter(uint64_t seconds) {
    clock_.Advance(seconds * kSecond);
    report_ = lifecycle_->LoadAll();
    return loader_.TakeEvents();
  }
  /// Changes a file during each of the next `count` loads.
  void WriteDuringLoads(int count, const std::string& path) {
    loader_.on_load = [this, count, path](const VersionSource&) mutable {
      if (count-- > 0) WriteFile(path, "write " + std::to_string(count));
    };
  }

  base::FakeClock clock_;
  LoadReport report_;
  std::optional<ModelLifecycle> lifecycle_;
};

TEST_F(SettledLoadsTest, AModelIsLoadedOnceWhenItsFilesAreStill) {
  Start(2 * kSecond);
  EXPECT_THAT(PollAfter(1), IsEmpty());
  Write("m", "backend", {"1"});
  EXPECT_THAT(PollAfter(1), IsEmpty());
  EXPECT_THAT(report_.failures, IsEmpty());
  EXPECT_EQ(report_.next_scan_ns, clock_.NowNs() + 2 * kSecond);
  WriteFile("m/config.pbtxt", kPlain);
  WriteFile("m/1/weights", "a part");
  EXPECT_THAT(PollAfter(1), IsEmpty());
  WriteFile("m/1/weights", "all of it");
  EXPECT_THAT(PollAfter(1), IsEmpty());
  EXPECT_THAT(PollAfter(1), IsEmpty());
  EXPECT_THAT(PollAfter(1), ElementsAre("load m:1", "activate m:1"));
  EXPECT_EQ(report_.next_scan_ns, std::nullopt);
  EXPECT_THAT(PollAfter(10), IsEmpty());
}

TEST_F(SettledLoadsTest, WhatServesContinuesUntilAChangeIsComplete) {
  Start(2 * kSecond);
  PollAfter(1);
  Write("m", kPlain, {"1"});
  PollAfter(1);
  EXPECT_THAT(PollAfter(2), ElementsAre("load m:1", "activate m:1"));
  WriteFile("m/1/weights", "new");
  EXPECT_THAT(PollAfter(1), IsEmpty());
  std::filesystem::remove_all(root_ / "m");
  EXPECT_THAT(PollAfter(5), IsEmpty()) << "the first scan without it";
  Write("m", kPlain, {"1"});
  EXPECT_THAT(PollAfter(1), IsEmpty()) << "it is written again";
  EXPECT_THAT(PollAfter(2), ElementsAre("load m:1", "gone m:1", "activate m:1"));
  std::filesystem::remove_all(root_ / "m");
  EXPECT_THAT(PollAfter(1), IsEmpty());
  EXPECT_THAT(PollAfter(2), ElementsAre("gone m:1"));
}

TEST_F(SettledLoadsTest, AtTheStartTheTimesOfTheFilesCount) {
  Write("new", kPlain, {"1"});
  Start(3600 * kSecond);
  EXPECT_THAT(PollAfter(1), IsEmpty());
  Start(1);
  EXPECT_THAT(PollAfter(1), ElementsAre("load new:1", "activate new:1"));
}

TEST_F(SettledLoadsTest, AMatchingListOfChecksumsNeedsNoTime) {
  Start(3600 * kSecond);
  PollAfter(1);
  Write("m", kPlain, {"1"});
  WriteFile("m/nereid.sha256", mirror::Sha256Text(kPlain) + "  config.pbtxt\n" +
                                   mirror::Sha256Text("weights") + "  1/weights\n");
  WriteFile("m/1/weights", "weig");
  EXPECT_THAT(PollAfter(1), IsEmpty());
  EXPECT_THAT(PollAfter(7200), IsEmpty()) << "no time makes it whole";
  WriteFile("m/1/weights", "weights");
  EXPECT_THAT(PollAfter(1), ElementsAre("load m:1", "activate m:1"));
}

TEST_F(SettledLoadsTest, ADifferingListIsRefusedWithoutASettleTimeToo) {
  Start(0);
  Write("m", kPlain, {"1"});
  WriteFile("m/nereid.sha256", mirror::Sha256Text("other") + "  config.pbtxt\n");
  EXPECT_THAT(PollAfter(1), IsEmpty());
  EXPECT_THAT(lifecycle_->Load("m").message(),
              ::testing::StartsWith("failed to load 'm', failed to poll from model repository: "));
  WriteFile("m/nereid.sha256", mirror::Sha256Text(kPlain) + "  config.pbtxt\n");
  EXPECT_TRUE(lifecycle_->Load("m").ok());
}

TEST_F(SettledLoadsTest, AModelThatChangesWhileItIsReadIsReadAgain) {
  Start(0);
  Write("m", kPlain, {"1"});
  WriteFile("m/1/weights", "a part");
  WriteDuringLoads(1, "m/1/weights");
  EXPECT_THAT(PollAfter(1), ElementsAre("load m:1", "gone m:1", "load m:1", "activate m:1"));
  EXPECT_THAT(report_.failures, IsEmpty());
  EXPECT_EQ(IndexText(*lifecycle_), "m/1/READY/\n");
}

TEST_F(SettledLoadsTest, AModelThatWritesIntoItsDirectoryIsLoadedInTheEnd) {
  Start(0);
  Write("m", kPlain, {"1"});
  WriteFile("m/1/log", "");
  WriteDuringLoads(100, "m/1/log");
  EXPECT_TRUE(lifecycle_->Load("m").ok());
  EXPECT_EQ(loader_.loads, 3);
  // A file that a load adds is no reason to read again.
  Write("n", kPlain, {"1"});
  WriteDuringLoads(100, "n/1/log");
  loader_.loads = 0;
  EXPECT_TRUE(lifecycle_->Load("n").ok());
  EXPECT_EQ(loader_.loads, 1);
}

TEST_F(SettledLoadsTest, AChangeDuringALoadMustSettleToo) {
  Start(2 * kSecond);
  PollAfter(1);
  Write("m", kPlain, {"1"});
  PollAfter(1);
  WriteDuringLoads(1, "m/1/weights");
  EXPECT_THAT(PollAfter(2), ElementsAre("load m:1", "gone m:1"));
  EXPECT_EQ(report_.failures.at("m").message(),
            "load failed for model 'm': its files are changed while they are read\n");
  EXPECT_EQ(report_.next_scan_ns, clock_.NowNs());
  EXPECT_TRUE(lifecycle_->AllReady()) << "a model that arrives is not missed";
  EXPECT_THAT(PollAfter(0), IsEmpty());
  EXPECT_EQ(report_.next_scan_ns, clock_.NowNs() + 2 * kSecond);
  EXPECT_THAT(PollAfter(2), ElementsAre("load m:1", "activate m:1"));
}

TEST_F(SettledLoadsTest, ATornReloadKeepsWhatServes) {
  Start(2 * kSecond);
  PollAfter(1);
  Write("m", kPlain, {"1"});
  PollAfter(1);
  PollAfter(2);
  WriteFile("m/1/weights", "new");
  PollAfter(1);
  WriteDuringLoads(1, "m/1/weights");
  EXPECT_THAT(PollAfter(2), ElementsAre("load m:1", "gone m:1"));
  EXPECT_EQ(IndexText(*lifecycle_), "m/1/READY/the last load has failed\n");
  PollAfter(0);
  EXPECT_THAT(PollAfter(2), ElementsAre("load m:1", "gone m:1", "activate m:1"));
}

TEST_F(SettledLoadsTest, ARequestedLoadWaitsUntilTheFilesAreStill) {
  Write("m", kPlain, {"1"});
  options_.settle.settle_ns = kSecond / 2;
  options_.settle.clock = &base::SteadyClock();
  lifecycle_.emplace(options_, loader_);
  const uint64_t begin = base::SteadyClock().NowNs();
  EXPECT_TRUE(lifecycle_->Load("m").ok());
  EXPECT_GE(base::SteadyClock().NowNs() - begin, kSecond / 4);
  EXPECT_THAT(loader_.TakeEvents(), ElementsAre("load m:1", "activate m:1"));
}

}  // namespace
}  // namespace nereid::repository
