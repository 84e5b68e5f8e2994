// SPDX-License-Identifier: Apache-2.0
#include "rollout/rollout.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace nereid::rollout {
namespace {

constexpr uint64_t kMs = 1'000'000;

RolloutPlan Plan() {
  RolloutPlan plan;
  plan.labels = {{"stable", 1}, {"canary", 2}};
  plan.split = Split{SplitKey::kRequest, "", {{{"stable"}, 9000}, {{"canary"}, 1000}}};
  plan.rollback.emplace().target.text = "canary";
  plan.rollback->window_seconds = 10;
  plan.rollback->min_requests = 5;
  plan.rollback->max_error_parts = 2000;
  EXPECT_TRUE(CompletePlan(&plan).ok());
  return plan;
}

class RolloutTest : public ::testing::Test {
 protected:
  std::unique_ptr<Rollout> Begin(RolloutPlan plan, uint64_t rollbacks = 0) {
    return std::make_unique<Rollout>("m", std::move(plan), rollbacks, clock_, nullptr);
  }

  base::FakeClock clock_;
};

TEST_F(RolloutTest, CountsTheVersionsThatThePlanNames) {
  const auto rollout = Begin(Plan());
  for (int i = 1; i <= 100; ++i) {
    rollout->OnEnd(1, Outcome::kSuccess, static_cast<uint64_t>(i) * kMs, clock_.NowNs());
  }
  rollout->OnEnd(1, Outcome::kFailure, kMs, clock_.NowNs());
  rollout->OnEnd(1, Outcome::kInvalid, kMs, clock_.NowNs());
  rollout->OnEnd(1, Outcome::kCancelled, kMs, clock_.NowNs());
  rollout->OnEnd(7, Outcome::kSuccess, kMs, clock_.NowNs());
  const RolloutStatus status = rollout->Status(clock_.NowNs());
  ASSERT_EQ(status.versions.size(), 2u);
  EXPECT_EQ(status.versions[0].version, 1);
  EXPECT_EQ(status.versions[0].requests, 103u);
  EXPECT_EQ(status.versions[0].failures, 2u);
  EXPECT_EQ(status.versions[0].parts, 9000u);
  EXPECT_NEAR(static_cast<double>(*status.versions[0].p50_us), 50'000, 1'000);
  EXPECT_NEAR(static_cast<double>(*status.versions[0].p99_us), 99'000, 1'000);
  EXPECT_EQ(status.versions[1].requests, 0u);
  EXPECT_EQ(status.versions[1].p50_us, std::nullopt);
}

TEST_F(RolloutTest, RollsBackWithTheRequestThatBreaksTheRule) {
  const auto rollout = Begin(Plan(), 3);
  for (int i = 0; i < 4; ++i) rollout->OnEnd(2, Outcome::kFailure, kMs, clock_.NowNs());
  for (int i = 0; i < 9; ++i) rollout->OnEnd(1, Outcome::kFailure, kMs, clock_.NowNs());
  EXPECT_FALSE(rollout->IsRolledBack(2));
  EXPECT_EQ(rollout->PartsOf(rollout->plan().split->weights[1]), 1000u);
  rollout->OnEnd(2, Outcome::kSuccess, kMs, clock_.NowNs());
  EXPECT_TRUE(rollout->IsRolledBack(2));
  EXPECT_FALSE(rollout->IsRolledBack(1));
  EXPECT_EQ(rollout->PartsOf(rollout->plan().split->weights[1]), 0u);
  EXPECT_EQ(rollout->PartsOf(rollout->plan().split->weights[0]), 9000u);
  const RolloutStatus status = rollout->Status(clock_.NowNs());
  ASSERT_TRUE(status.rollback.has_value());
  EXPECT_EQ(status.rollback->version, 2);
  EXPECT_EQ(status.rollback->reason,
            "4 of 5 requests of the last 10 s failed, more than 2000 in 10000");
  EXPECT_EQ(status.rollback->wall_ms, clock_.WallMs());
  EXPECT_EQ(status.rollbacks, 4u);
  EXPECT_EQ(status.versions[1].parts, 0u);
  // It stays rolled back, and the event stays the first one.
  clock_.Advance(60'000 * kMs);
  for (int i = 0; i < 90; ++i) rollout->OnEnd(2, Outcome::kSuccess, kMs, clock_.NowNs());
  EXPECT_TRUE(rollout->IsRolledBack(2));
  EXPECT_EQ(rollout->Rollbacks(), 4u);
}

TEST_F(RolloutTest, RollsBackWithinTwoSecondsOfAFault) {
  const auto rollout = Begin(Plan());
  for (int i = 0; i < 1000; ++i) {  // 10 s at 100 requests/s
    rollout->OnEnd(2, Outcome::kSuccess, kMs, clock_.NowNs());
    clock_.Advance(10 * kMs);
  }
  const uint64_t fault_ns = clock_.NowNs();
  while (!rollout->IsRolledBack(2)) {
    rollout->OnEnd(2, Outcome::kFailure, kMs, clock_.NowNs());
    clock_.Advance(10 * kMs);
    ASSERT_LT(clock_.NowNs() - fault_ns, 20'000 * kMs);
  }
  // 20 % of a window of 10 s at this rate.
  EXPECT_LE(clock_.NowNs() - fault_ns, 2'020 * kMs);
}

TEST_F(RolloutTest, OldFailuresDoNotCount) {
  const auto rollout = Begin(Plan());
  for (int i = 0; i < 4; ++i) rollout->OnEnd(2, Outcome::kFailure, kMs, clock_.NowNs());
  clock_.Advance(11'000 * kMs);
  for (int i = 0; i < 5; ++i) rollout->OnEnd(2, Outcome::kSuccess, kMs, clock_.NowNs());
  EXPECT_FALSE(rollout->IsRolledBack(2));
}

TEST_F(RolloutTest, LatencyIsABound) {
  RolloutPlan plan = Plan();
  plan.rollback->max_error_parts.reset();
  plan.rollback->max_latency_us = 10'000;
  plan.rollback->latency_parts = 5000;
  const auto rollout = Begin(plan);
  for (int i = 0; i < 5; ++i) rollout->OnEnd(2, Outcome::kSuccess, 10 * kMs, clock_.NowNs());
  for (int i = 0; i < 5; ++i) rollout->OnEnd(2, Outcome::kSuccess, 11 * kMs, clock_.NowNs());
  EXPECT_FALSE(rollout->IsRolledBack(2));
  rollout->OnEnd(2, Outcome::kSuccess, 11 * kMs, clock_.NowNs());
  EXPECT_TRUE(rollout->IsRolledBack(2));
}

TEST_F(RolloutTest, InvalidRequestsCountIfThePlanSaysSo) {
  const auto rollout = Begin(Plan());
  for (int i = 0; i < 50; ++i) {
    rollout->OnEnd(2, Outcome::kInvalid, 0, clock_.NowNs());
    rollout->OnEnd(2, Outcome::kCancelled, 0, clock_.NowNs());
  }
  EXPECT_FALSE(rollout->IsRolledBack(2));
  RolloutPlan strict = Plan();
  strict.rollback->counts_invalid = true;
  const auto second = Begin(strict);
  for (int i = 0; i < 5; ++i) second->OnEnd(2, Outcome::kInvalid, 0, clock_.NowNs());
  EXPECT_TRUE(second->IsRolledBack(2));
}

TEST_F(RolloutTest, ManyThreadsCountEveryRequest) {
  const auto rollout = Begin(Plan());
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 2000; ++n) {
        rollout->OnEnd(1 + n % 2, Outcome::kSuccess, kMs, clock_.NowNs());
        if (n % 500 == 0) (void)rollout->Status(clock_.NowNs());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const RolloutStatus status = rollout->Status(clock_.NowNs());
  EXPECT_EQ(status.versions[0].requests, 4000u);
  EXPECT_EQ(status.versions[1].requests, 4000u);
}

}  // namespace
}  // namespace nereid::rollout
