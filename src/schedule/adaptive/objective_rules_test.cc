// SPDX-License-Identifier: Apache-2.0
#include "schedule/adaptive/objective_rules.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace nereid::schedule {
namespace {

constexpr uint64_t kMs = 1'000'000;

class ObjectiveRulesTest : public ::testing::Test {
 protected:
  /// A model that takes 1 ms and 0.1 ms for each request; the curve is known afterwards.
  void Learn() {
    for (int round = 0; round < 4; ++round) {
      for (const uint64_t size : {1, 2, 3, 4}) Executed(size, 0, kMs + size * kMs / 10);
    }
  }
  /// Until when a batch of `size`, all of whose requests have just come, is held back.
  uint64_t Wait(uint64_t size) { return policy_.WaitUntil({size, 0, 0}, 0); }

  void Executed(uint64_t size, uint64_t wait_ns, uint64_t execution_ns) {
    policy_.OnExecuted(size, wait_ns, execution_ns, 0);
  }

  ObjectiveRules policy_{20 * kMs, 64};
};

TEST_F(ObjectiveRulesTest, TheLimitGrowsByOneAndShrinksByATenth) {
  EXPECT_EQ(policy_.size_limit(), 1u);
  for (uint64_t size = 1; size < 40; ++size) {
    Executed(size, 0, kMs);
    EXPECT_EQ(policy_.size_limit(), size + 1);
  }
  Executed(40, 0, 11 * kMs);  // more than half the objective
  EXPECT_EQ(policy_.size_limit(), 36u);
  Executed(5, 0, kMs);  // not full: teaches nothing
  EXPECT_EQ(policy_.size_limit(), 36u);
  Executed(10, 0, 15 * kMs);
  EXPECT_EQ(policy_.size_limit(), 9u);
}

TEST_F(ObjectiveRulesTest, TheLimitStaysBetweenOneAndMaxBatchSize) {
  for (uint64_t size = 1; size < 200; ++size) Executed(std::min<uint64_t>(size, 64), 0, 1);
  EXPECT_EQ(policy_.size_limit(), 64u);
  for (int i = 0; i < 100; ++i) Executed(1, 0, 100 * kMs);
  EXPECT_EQ(policy_.size_limit(), 1u);
}

TEST_F(ObjectiveRulesTest, ALostObjectiveMakesRoomForThroughput) {
  EXPECT_EQ(policy_.SizeLimit(0, 20 * kMs), 1u);
  EXPECT_EQ(policy_.SizeLimit(0, 20 * kMs + 1), 64u);
  Executed(64, 25 * kMs, 8 * kMs);
  EXPECT_EQ(policy_.size_limit(), 1u) << "such a batch says nothing about the limit";
}

TEST_F(ObjectiveRulesTest, NothingIsHeldBackBeforeTheCostIsKnown) { EXPECT_EQ(Wait(1), 0u); }

TEST_F(ObjectiveRulesTest, WaitsForTheNextRequestButNotTooLong) {
  Learn();
  EXPECT_NEAR(static_cast<double>(Wait(1)), 1.1 * kMs, 10)
      << "as long as an execution takes, before anything is known of gaps";
  // Late in its time, what is left beside the execution counts: 20 - 1.2 ms.
  const uint64_t until = policy_.WaitUntil({1, 0, 18 * kMs}, 18 * kMs);
  EXPECT_NEAR(static_cast<double>(until), 18.8 * kMs, 0.4 * kMs);
  EXPECT_EQ(policy_.WaitUntil({1, 0, 17 * kMs}, 19 * kMs), 19 * kMs);
}

TEST_F(ObjectiveRulesTest, TheWaitFollowsTheGapsBetweenRequests) {
  Learn();
  for (int i = 0; i < 60; ++i) {
    ASSERT_GT(Wait(1), 0u);
    policy_.OnTaken({5, 0, 2 * kMs}, 4 * kMs);  // four more in 2 ms: every 0.5 ms
  }
  EXPECT_NEAR(static_cast<double>(Wait(1)), 4 * 0.5 * kMs, 0.1 * kMs);
}

TEST_F(ObjectiveRulesTest, WaitsThatBringNothingBecomeRare) {
  Learn();
  uint64_t waited_ns = 0;
  uint64_t last_wait_ns = 0;
  const uint64_t end_ns = 100'000 * kMs;
  for (uint64_t now = 0; now < end_ns; now += kMs) {  // a lone client
    const uint64_t until = policy_.WaitUntil({1, now, now}, now);
    if (until > now) {
      waited_ns += until - now;
      last_wait_ns = now;
      now = until;
    }
    policy_.OnTaken({1, now, now}, now);
  }
  EXPECT_LT(waited_ns, end_ns / 100);
  EXPECT_GT(last_wait_ns, end_ns - 1000 * kMs) << "but they do not end: loads change";
}

TEST_F(ObjectiveRulesTest, NothingIsHeldBackWhereBatchesSaveNothing) {
  for (int round = 0; round < 4; ++round) {
    for (const uint64_t size : {1, 2, 3, 4}) Executed(size, 0, size * kMs);
  }
  EXPECT_EQ(Wait(1), 0u);
}

TEST_F(ObjectiveRulesTest, NothingIsHeldBackForAnObjectiveThatCannotBeMet) {
  for (int round = 0; round < 4; ++round) {
    for (const uint64_t size : {1, 2}) Executed(size, 0, 30 * kMs + size);
  }
  EXPECT_EQ(Wait(1), 0u);
}

TEST_F(ObjectiveRulesTest, LateAnswersShortenTheWaits) {
  Learn();
  for (int i = 0; i < 10; ++i) Executed(1, 19 * kMs, 1100 * kMs / 1000);
  const uint64_t until = policy_.WaitUntil({1, 0, 8 * kMs}, 5 * kMs);
  EXPECT_LT(until, 10 * kMs);
}

}  // namespace
}  // namespace nereid::schedule
