// SPDX-License-Identifier: Apache-2.0
#include "watchdog/stall_judge.h"

#include <gtest/gtest.h>

namespace nereid::watchdog {
namespace {

using base::StageKind;
using base::StageSample;
using Kind = Finding::Kind;

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kStart = 1000 * kSecond;

class StallJudgeTest : public ::testing::Test {
 protected:
  /// One round, a second after the one before.
  std::vector<Finding> Round(std::vector<StageReport> reports, uint64_t after = kSecond) {
    now_ += after;
    return judge_.Judge(reports, now_);
  }
  static StageReport Loop(uint64_t blocked_since) {
    return {1, {StageKind::kEventLoop, "http-0"}, StageSample{.blocked_since_ns = blocked_since}};
  }
  static StageReport Scheduler(uint64_t working_since, bool on_loop) {
    return {2,
            {StageKind::kScheduler, "m"},
            StageSample{.working_since_ns = working_since, .works_on_loop = on_loop}};
  }
  static StageReport Unknown() { return {1, {StageKind::kScheduler, "m"}, std::nullopt}; }

  uint64_t now_ = kStart;
  StallJudge judge_{/*bound_ns=*/5 * kSecond, /*period_ns=*/kSecond};
};

TEST_F(StallJudgeTest, WhatMovesIsNotStuck) {
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(Round({Loop(0)}).empty());
    EXPECT_TRUE(Round({Loop(now_)}).empty());  // each time something else has begun to wait
  }
}

TEST_F(StallJudgeTest, WhatDoesNotMoveIsStuckAfterTheBound) {
  Round({Loop(0)});
  const uint64_t since = now_;
  for (int i = 1; i < 5; ++i) EXPECT_TRUE(Round({Loop(since)}).empty()) << i;
  const auto findings = Round({Loop(since)});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].kind, Kind::kStuck);
  EXPECT_EQ(findings[0].age_ns, 5 * kSecond);
  EXPECT_EQ(findings[0].facts.name, "http-0");
  EXPECT_TRUE(findings[0].IsFatal());
  EXPECT_EQ(Round({Loop(since)})[0].age_ns, 6 * kSecond);
  EXPECT_TRUE(Round({Loop(0)}).empty());
}

TEST_F(StallJudgeTest, TheFirstRoundKnowsNothing) {
  EXPECT_TRUE(Round({Loop(kStart - 100 * kSecond)}).empty());
}

// A machine that sleeps, or a process that is stopped: the watchdog was not there either.
TEST_F(StallJudgeTest, TimeInWhichNothingRanDoesNotCount) {
  Round({Loop(0)});
  const uint64_t since = now_;
  Round({Loop(since)});
  EXPECT_TRUE(Round({Loop(since)}, 3600 * kSecond).empty());  // counts as two seconds
  EXPECT_TRUE(Round({Loop(since)}).empty());
  EXPECT_EQ(Round({Loop(since)}).size(), 1u);
}

TEST_F(StallJudgeTest, AnAgeIsNeverMoreThanItsTime) {
  Round({Loop(0)});
  const uint64_t since = now_ + kSecond - 1;
  Round({Loop(since)});
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(Round({Loop(since)}).empty());
  EXPECT_EQ(Round({Loop(since)})[0].age_ns, 5 * kSecond + 1);
}

TEST_F(StallJudgeTest, AClockThatGoesBackCountsNothing) {
  Round({Loop(0)});
  const uint64_t since = now_;
  for (int i = 0; i < 3; ++i) Round({Loop(since)});
  now_ -= 2 * kSecond;
  EXPECT_TRUE(judge_.Judge({Loop(since)}, now_).empty());
  EXPECT_TRUE(judge_.Judge({Loop(now_ + 5)}, now_).empty());  // in the future
}

TEST_F(StallJudgeTest, AnExecutionThatTakesLongIsNotStuck) {
  Round({Scheduler(0, false)});
  const uint64_t since = now_;
  std::vector<Finding> findings;
  for (int i = 0; i < 5; ++i) findings = Round({Scheduler(since, false)});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].kind, Kind::kExecuting);
  EXPECT_FALSE(findings[0].IsFatal());
}

TEST_F(StallJudgeTest, ALoopThatAnExecutionHoldsIsNotStuck) {
  Round({Loop(0), Scheduler(0, true)});
  const uint64_t since = now_;
  std::vector<Finding> findings;
  for (int i = 0; i < 6; ++i) findings = Round({Loop(since + 1), Scheduler(since, true)});
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].kind, Kind::kExecuting);
  EXPECT_FALSE(findings[0].IsFatal());
  // One that began later does not hold it.
  for (int i = 0; i < 6; ++i) findings = Round({Loop(since + 1), Scheduler(since + 2, true)});
  EXPECT_EQ(findings[0].kind, Kind::kStuck);
  // Nor one on a thread of its own.
  for (int i = 0; i < 6; ++i) findings = Round({Loop(since + 1), Scheduler(since, false)});
  EXPECT_EQ(findings[0].kind, Kind::kStuck);
}

TEST_F(StallJudgeTest, ALockThatIsAlwaysHeldIsStuck) {
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(Round({Unknown()}).empty());
  StageReport known = Unknown();
  known.sample = StageSample{};
  EXPECT_TRUE(Round({known}).empty());  // it was free once: all over again
  std::vector<Finding> findings;
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(Round({Unknown()}).empty()) << i;
  findings = Round({Unknown()});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].kind, Kind::kStuck);
  EXPECT_EQ(findings[0].detail, "its lock is held");
}

TEST_F(StallJudgeTest, AStageThatMayWaitIsNamedAndNotFatal) {
  StageReport pool{3,
                   {StageKind::kPool, "http-loads", /*must_move=*/false},
                   StageSample{.blocked_since_ns = kStart, .detail = "2 tasks wait"}};
  std::vector<Finding> findings;
  for (int i = 0; i < 6; ++i) findings = Round({pool});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].detail, "2 tasks wait");
  EXPECT_FALSE(findings[0].IsFatal());
}

TEST_F(StallJudgeTest, AStageThatHasGoneIsForgotten) {
  Round({Loop(0)});
  const uint64_t since = now_;
  for (int i = 0; i < 5; ++i) Round({Loop(since)});
  EXPECT_TRUE(Round({}).empty());
  EXPECT_TRUE(Round({Loop(since)}).empty());  // counted anew
}

}  // namespace
}  // namespace nereid::watchdog
