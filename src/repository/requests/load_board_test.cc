// SPDX-License-Identifier: Apache-2.0
#include "repository/requests/load_board.h"

#include <gtest/gtest.h>

#include "repository/testing/repository_fixture.h"

namespace nereid::repository {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;
const ModelId kModel{"m"};

class LoadBoardTest : public ::testing::Test {
 protected:
  LoadRecord Record() { return board_.Find("m").at(kModel); }

  base::FakeClock clock_;
  LoadBoard board_{clock_, 5 * kSecond};
};

TEST_F(LoadBoardTest, ALoadIsRecordedFromItsBeginningToItsEnd) {
  EXPECT_TRUE(board_.Find("m").empty());
  const auto run = board_.Begin(kModel);
  run->SetPosition({.stage = LoadStage::kLoading, .version = 3, .versions = 2});
  clock_.Advance(kSecond);
  ASSERT_TRUE(Record().current);
  EXPECT_EQ(Record().current->position.version, 3);
  EXPECT_EQ(Record().current->elapsed_ns, kSecond);
  EXPECT_FALSE(Record().last);
  board_.End(kModel, base::Status::InvalidArgument("bad"));
  EXPECT_FALSE(Record().current);
  EXPECT_EQ(Record().last->status.message(), "bad");
  EXPECT_EQ(Record().last->duration_ns, kSecond);
  EXPECT_EQ(Record().last->wall_ms, clock_.WallMs());
  EXPECT_TRUE(Record().HasFailed());
  EXPECT_EQ(Record().failures, 1u);
  board_.Begin(kModel);
  board_.End(kModel, base::Status::Ok());
  EXPECT_FALSE(Record().HasFailed());
  EXPECT_EQ(Record().successes, 1u);
  board_.Forget(kModel);
  EXPECT_TRUE(board_.List().empty());
}

TEST_F(LoadBoardTest, ALoadWithoutEffectOnlyEndsAFailure) {
  board_.Begin(kModel);
  board_.End(kModel, base::Status::InvalidArgument("bad"));
  board_.Begin(kModel);
  board_.EndUnchanged(kModel);
  EXPECT_FALSE(Record().HasFailed());
  EXPECT_EQ(Record().successes, 0u);
}

TEST_F(LoadBoardTest, ALoadWithoutALimitCanEndEarlyOnlyIfThereAreClients) {
  bool has_clients = false;
  const auto ask = [&] { return has_clients; };
  LoadBoard board(clock_, 0, ask);
  const auto run = board.Begin(kModel);
  EXPECT_FALSE(run->CanEndEarly());
  run->SetTimeout(kSecond);
  EXPECT_TRUE(run->CanEndEarly());
  EXPECT_TRUE(LoadBoard(clock_, kSecond, ask).Begin(kModel)->CanEndEarly());
  has_clients = true;
  EXPECT_TRUE(board.Begin(kModel)->CanEndEarly());
}

TEST_F(LoadBoardTest, ARunEndsAfterItsLimitOrWhenItIsCancelled) {
  const auto run = board_.Begin(kModel);
  clock_.Advance(5 * kSecond - 1);
  EXPECT_TRUE(run->Check().ok());
  clock_.Advance(1);
  EXPECT_EQ(run->Check().code(), base::StatusCode::kUnavailable);
  run->SetTimeout(0);
  EXPECT_TRUE(run->Check().ok());
  EXPECT_EQ(board_.Cancel("n"), 0u);
  EXPECT_EQ(board_.Cancel("m"), 1u);
  EXPECT_EQ(run->Check().code(), base::StatusCode::kCancelled);
  board_.End(kModel, run->Check());
  EXPECT_EQ(board_.Cancel("m"), 0u);
}

class LoadRecordsTest : public RepositoryTest {};

TEST_F(LoadRecordsTest, AFailedReloadIsInTheIndexWhileTheOldVersionServes) {
  const std::string config =
      "backend: \"b\" metric_tags { key: \"team\" value: \"x\" } "
      "input { name: \"I\" data_type: TYPE_FP32 dims: 1 } "
      "output { name: \"O\" data_type: TYPE_FP32 dims: 1 } ";
  Write("m", config, {"1"});
  ModelLifecycle lifecycle(options_, loader_);
  EXPECT_TRUE(lifecycle.Load("m").ok());
  EXPECT_EQ(IndexText(lifecycle), "m/1/READY/\n");
  WriteFile("m/config.pbtxt", config + "parameters { key: \"bad\" } ");
  EXPECT_FALSE(lifecycle.Load("m").ok());
  EXPECT_EQ(IndexText(lifecycle), "m/1/READY/the last load has failed\n");
  EXPECT_EQ((*lifecycle.Index(false))[0].reason,
            "the last load has failed: load failed for model 'm': version 1 is at UNAVAILABLE "
            "state: Invalid argument: it is bad;");
  const LoadRecord record = lifecycle.board().Find("m").at(kModel);
  EXPECT_EQ(record.successes, 1u);
  EXPECT_EQ(record.failures, 1u);
  EXPECT_EQ(record.tags.at("team"), "x");
  WriteFile("m/config.pbtxt", config);
  EXPECT_TRUE(lifecycle.Load("m").ok());
  EXPECT_EQ(IndexText(lifecycle), "m/1/READY/\n");
}

TEST_F(LoadRecordsTest, AModelHasALimitOfItsOwn) {
  const auto config = [](const std::string& seconds) {
    return "backend: \"b\" input { name: \"I\" data_type: TYPE_FP32 dims: 1 } "
           "output { name: \"O\" data_type: TYPE_FP32 dims: 1 } "
           "parameters { key: \"load_timeout_secs\" value { string_value: \"" +
           seconds + "\" } }";
  };
  Write("m", config("soon"), {"1"});
  base::FakeClock clock;
  options_.settle.clock = &clock;
  ModelLifecycle lifecycle(options_, loader_);
  EXPECT_EQ(lifecycle.Load("m").message(),
            "load failed for model 'm': parameter 'load_timeout_secs' must be a whole number of "
            "seconds, got 'soon'\n");
  WriteFile("m/config.pbtxt", config("2"));
  std::atomic<bool> ends{false};
  loader_.on_load = [&](const VersionSource&) {
    clock.Advance(2 * kSecond);
    while (!ends) std::this_thread::yield();
  };
  EXPECT_EQ(lifecycle.Load("m").message(),
            "load failed for model 'm': version 1 is at UNAVAILABLE state: Unavailable: the load "
            "has not ended within 2 s (--model-load-timeout-secs, or load_timeout_secs of the "
            "model);\n");
  EXPECT_EQ(lifecycle.CancelLoads("m"), 0u);
  ends = true;
}

}  // namespace
}  // namespace nereid::repository
