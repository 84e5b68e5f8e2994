// SPDX-License-Identifier: Apache-2.0
#include "server/residency/residency_planner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/residency/testing/played_residency.h"

namespace nereid::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr uint64_t kMs = 1'000'000;
constexpr uint64_t kSecond = 1'000'000'000;

ResidencyPlanner::Settings Budget(uint64_t bytes, uint64_t min_residence_ns = 0) {
  ResidencyPlanner::Settings settings;
  settings.budget_bytes = bytes;
  settings.min_residence_ns = min_residence_ns;
  return settings;
}

TEST(ResidencyPlannerTest, TheFirstRequestLoadsAndLaterOnesFindTheModelOpen) {
  PlayedResidency played(Budget(250), {{"a", {}}, {"b", {}}});
  played.Request("a", kMs);
  played.Request("a", kMs);
  EXPECT_FALSE(played.IsOpen("a"));
  played.RunUntil(2 * kSecond);
  EXPECT_TRUE(played.IsOpen("a"));
  EXPECT_FALSE(played.IsInMemory("b"));
  played.Request("a", kMs);
  played.RunUntil(3 * kSecond);
  EXPECT_TRUE(played.AllAnswered());
  EXPECT_EQ(played.outcome.waited, 2u);
  EXPECT_EQ(played.outcome.hits, 1u);
  EXPECT_THAT(played.log, ElementsAre("load a"));
}

TEST(ResidencyPlannerTest, TheLeastRecentlyUsedModelGoes) {
  PlayedResidency played(Budget(250), {{"a", {}}, {"b", {}}, {"c", {}}});
  uint64_t at = 2 * kSecond;
  for (const char* const name : {"a", "b", "a", "c"}) {
    played.Request(name, kMs);
    played.RunUntil(at += kSecond);
  }
  EXPECT_THAT(played.log, ElementsAre("load a", "load b", "evict b", "load c"));
  EXPECT_TRUE(played.AllAnswered());
}

TEST(ResidencyPlannerTest, APinnedModelStays) {
  PlayedResidency::Model pinned;
  pinned.is_pinned = true;
  PlayedResidency played(Budget(250), {{"a", pinned}, {"b", {}}, {"c", {}}});
  uint64_t at = 2 * kSecond;
  for (const char* const name : {"a", "b", "b", "c", "b", "a"}) {
    played.Request(name, kMs);
    played.RunUntil(at += kSecond);
  }
  EXPECT_THAT(played.log,
              ElementsAre("load a", "load b", "evict b", "load c", "evict c", "load b"));
}

TEST(ResidencyPlannerTest, ABusyModelIsDrainedFirst) {
  PlayedResidency played(Budget(150), {{"a", {}}, {"b", {}}});
  played.Request("a", 5 * kSecond);
  played.RunUntil(2 * kSecond);
  played.Request("b", kMs);
  EXPECT_FALSE(played.IsOpen("a")) << "new requests wait";
  played.RunUntil(5 * kSecond);
  EXPECT_TRUE(played.IsInMemory("a")) << "its request is in flight";
  played.RunUntil(8 * kSecond);
  EXPECT_TRUE(played.IsOpen("b"));
  EXPECT_THAT(played.log, ElementsAre("load a", "evict a", "load b"));
  EXPECT_EQ(played.outcome.refused, 0u);
}

TEST(ResidencyPlannerTest, AModelThatStaysBusyIsOpenedAgain) {
  PlayedResidency played(Budget(150), {{"a", {}}, {"b", {}}});
  played.Request("a", 200 * kSecond);
  played.RunUntil(2 * kSecond);
  played.Request("b", kMs);
  bool served = false;
  played.Request("a", kMs, [&served](bool was_served) { served = was_served; });
  played.RunUntil(15 * kSecond);
  EXPECT_TRUE(served) << "after the longest drain";
  played.RunUntil(100 * kSecond);
  EXPECT_EQ(played.outcome.refused, 1u) << "b, after the longest wait";
  EXPECT_THAT(played.log, ElementsAre("load a"));
}

TEST(ResidencyPlannerTest, AModelStaysForItsMinimumResidence) {
  PlayedResidency played(Budget(150, 10 * kSecond), {{"a", {}}, {"b", {}}});
  played.Request("a", kMs);
  played.RunUntil(2 * kSecond);
  played.Request("b", kMs);
  played.RunUntil(10 * kSecond);
  EXPECT_TRUE(played.IsOpen("a"));
  played.RunUntil(12 * kSecond);
  EXPECT_TRUE(played.IsOpen("b"));
}

TEST(ResidencyPlannerTest, AModelStaysAtLeastAsLongAsItsLoadTook) {
  PlayedResidency::Model slow;
  slow.load_ns = 20 * kSecond;
  PlayedResidency played(Budget(150), {{"a", slow}, {"b", {}}});
  played.Request("a", kMs);
  played.RunUntil(22 * kSecond);
  played.Request("b", kMs);
  played.RunUntil(40 * kSecond);
  EXPECT_TRUE(played.IsOpen("a"));
  played.RunUntil(42 * kSecond);
  EXPECT_TRUE(played.IsOpen("b"));
}

TEST(ResidencyPlannerTest, AModelThatIsLargerThanTheBudgetIsRefusedWithBothSizes) {
  PlayedResidency::Model large;
  large.bytes = 500;
  PlayedResidency played(Budget(250), {{"a", {}}, {"large", large}});
  played.Request("a", kMs);
  played.RunUntil(2 * kSecond);
  played.Request("large", kMs);
  played.RunUntil(3 * kSecond);
  EXPECT_EQ(played.outcome.refused, 1u);
  EXPECT_FALSE(played.IsInMemory("large"));
  ResidencyPlanner planner(Budget(250));
  planner.Know("large", {80, false, {}});
  ASSERT_TRUE(planner.Ask(1, {"large", 1, 0, 0, false}).ok());
  EXPECT_EQ(planner.Step(0, {})[0].order, ResidencyPlanner::Order::kLoad);
  planner.Held("large", 500, 1, 500, 1);
  planner.LoadEnded("large", base::Status::Ok(), 1);
  const auto actions = planner.Step(1, {});
  const auto refusal = std::find_if(actions.begin(), actions.end(), [](const auto& action) {
    return action.order == ResidencyPlanner::Order::kRefuse;
  });
  ASSERT_NE(refusal, actions.end());
  EXPECT_THAT(
      refusal->status.message(),
      HasSubstr("model 'large' needs 500 bytes of memory, but --model-memory-budget is 250"));
  // Later requests do not load it again.
  const auto again = planner.Ask(2, {"large", 1, 2, 0, false});
  EXPECT_THAT(again.message(), HasSubstr("needs 500 bytes"));
}

TEST(ResidencyPlannerTest, AFailedLoadRefusesAllAndIsRetriedLater) {
  PlayedResidency::Model bad;
  bad.fails = true;
  PlayedResidency played(Budget(250), {{"a", bad}});
  for (int i = 0; i < 3; ++i) played.Request("a", kMs);
  played.RunUntil(1100 * kMs);
  EXPECT_EQ(played.outcome.refused, 3u);
  played.Request("a", kMs);
  EXPECT_EQ(played.outcome.refused, 4u) << "at once";
  EXPECT_EQ(played.outcome.loads, 1u);
  played.RunUntil(4 * kSecond);
  played.Request("a", kMs);
  played.RunUntil(5 * kSecond);
  EXPECT_EQ(played.outcome.loads, 2u);
}

TEST(ResidencyPlannerTest, AFullLineRefusesWithItsLimits) {
  ResidencyPlanner::Settings settings = Budget(250);
  settings.line.requests = 2;
  ResidencyPlanner planner(settings);
  planner.Know("a", {});
  ASSERT_TRUE(planner.Ask(1, {"a", 1, 0, 0, false}).ok());
  ASSERT_TRUE(planner.Ask(2, {"a", 1, 0, 0, false}).ok());
  const auto full = planner.Ask(3, {"a", 1, 0, 0, false});
  EXPECT_EQ(full.code(), base::StatusCode::kUnavailable);
  EXPECT_THAT(full.message(), HasSubstr("2 requests (--model-wait-queue-size)"));
  EXPECT_TRUE(planner.Ask(4, {"a", 0, 0, 0, true}).ok()) << "loads of clients do not count";
  EXPECT_TRUE(planner.Abandon(1));
  EXPECT_FALSE(planner.Abandon(1));
  EXPECT_TRUE(planner.Ask(5, {"a", 1, 0, 0, false}).ok());
}

TEST(WaitLineTest, BytesAreLimitedButOneLargeRequestPasses) {
  WaitLine line({100, 1000});
  EXPECT_TRUE(line.Admit(1, {"a", 5000, 0, 0, false}).ok());
  EXPECT_FALSE(line.Admit(2, {"a", 1, 0, 0, false}).ok());
  EXPECT_TRUE(line.Remove(1));
  EXPECT_TRUE(line.Admit(3, {"a", 999, 0, 0, false}).ok());
  EXPECT_TRUE(line.Admit(4, {"b", 1, 0, 0, false}).ok());
  EXPECT_FALSE(line.Admit(5, {"b", 1, 0, 0, false}).ok());
}

TEST(WaitLineTest, ModelsComeInTheOrderOfTheirOldestRequests) {
  WaitLine line({});
  ASSERT_TRUE(line.Admit(1, {"b", 1, 10, 0, false}).ok());
  ASSERT_TRUE(line.Admit(2, {"a", 1, 20, 30, false}).ok());
  ASSERT_TRUE(line.Admit(3, {"b", 1, 30, 40, false}).ok());
  EXPECT_EQ(*line.First(), "b");
  EXPECT_EQ(line.Since("b"), 10u);
  EXPECT_THAT(line.TakeAll("b", 1), ElementsAre(1));
  EXPECT_EQ(*line.First(), "a");
  EXPECT_THAT(line.TakeExpired(29), ElementsAre());
  EXPECT_THAT(line.TakeExpired(30), ElementsAre(2));
  EXPECT_THAT(line.TakeAll("b"), ElementsAre(3));
  EXPECT_EQ(line.First(), nullptr);
}

TEST(ResidencyPlannerTest, ExpiredAndForgottenRequestsEnd) {
  PlayedResidency::Model slow;
  slow.load_ns = 10 * kSecond;
  PlayedResidency played(Budget(250), {{"a", slow}, {"b", {}}});
  played.Request("a", kMs, nullptr, kSecond);
  played.Request("b", kMs);
  played.Request("b", kMs, nullptr, 2 * kSecond);
  played.At(5 * kSecond, [&] { played.Forget("b"); });
  played.RunUntil(6 * kSecond);
  EXPECT_EQ(played.outcome.refused, 3u);
  EXPECT_TRUE(played.AllAnswered());
  played.RunUntil(30 * kSecond);
  EXPECT_TRUE(played.IsInMemory("a")) << "a load that has begun is completed";
}

TEST(ResidencyPlannerTest, AModelThatIsUnloadedWhileItIsLoadedDoesNotStay) {
  PlayedResidency played(Budget(250), {{"a", {}}});
  played.Request("a", kMs);
  played.Forget("a");
  EXPECT_EQ(played.outcome.refused, 1u);
  played.RunUntil(5 * kSecond);
  EXPECT_FALSE(played.IsInMemory("a"));
  EXPECT_THAT(played.log, ElementsAre("load a", "evict a"));
}

TEST(ResidencyPlannerTest, AnEnsembleIsEvictedBeforeItsMembersAndNotWhileItIsUsed) {
  PlayedResidency::Model ensemble;
  ensemble.bytes = 0;
  ensemble.file_bytes = 0;
  ensemble.members = {"a", "b"};
  PlayedResidency played(Budget(250), {{"a", {}}, {"b", {}}, {"c", {}}, {"ensemble", ensemble}});
  played.Request("ensemble", 3 * kSecond);
  played.RunUntil(2 * kSecond);
  EXPECT_TRUE(played.IsInMemory("a") && played.IsInMemory("b"));
  played.Request("c", kMs);
  played.RunUntil(3 * kSecond);
  EXPECT_TRUE(played.IsInMemory("a") && played.IsInMemory("b") && played.IsInMemory("ensemble"));
  played.RunUntil(6 * kSecond);
  EXPECT_TRUE(played.IsOpen("c"));
  EXPECT_THAT(played.log, ElementsAre("load ensemble", "evict ensemble", "evict a", "load c"));
  played.Request("ensemble", kMs);
  played.RunUntil(9 * kSecond);
  EXPECT_TRUE(played.IsOpen("ensemble") && played.IsOpen("a") && played.IsOpen("b"));
  EXPECT_EQ(played.outcome.refused, 0u);
}

TEST(ResidencyPlannerTest, AnEnsembleWhoseMemberWasUnloadedIsRefused) {
  PlayedResidency::Model ensemble;
  ensemble.members = {"a"};
  PlayedResidency played(Budget(250), {{"a", {}}, {"ensemble", ensemble}});
  played.Forget("a");
  played.Request("ensemble", kMs);
  EXPECT_EQ(played.outcome.refused, 1u);
  played.Know("a");
  played.Request("ensemble", kMs);
  played.RunUntil(3 * kSecond);
  EXPECT_EQ(played.outcome.waited, 1u);
}

TEST(ResidencyPlannerTest, PinnedModelsThatFillTheBudgetLeaveNoRoom) {
  PlayedResidency::Model pinned;
  pinned.is_pinned = true;
  PlayedResidency played(Budget(110), {{"a", pinned}, {"b", {}}});
  played.Request("a", kMs);
  played.RunUntil(2 * kSecond);
  played.Request("b", kMs);
  played.RunUntil(3 * kSecond);
  EXPECT_EQ(played.outcome.refused, 1u);
  EXPECT_TRUE(played.IsOpen("a"));
}

TEST(ResidencyPlannerTest, AClientsLoadReloadsAModelThatIsOpen) {
  ResidencyPlanner planner(Budget(250));
  planner.Know("a", {});
  planner.Held("a", 100, 1, 100, 1);
  EXPECT_EQ(planner.Step(1, {})[0].order, ResidencyPlanner::Order::kOpen);
  ASSERT_TRUE(planner.Ask(1, {"a", 0, 2, 0, true}).ok());
  auto actions = planner.Step(2, {});
  ASSERT_EQ(actions.size(), 1u);
  EXPECT_EQ(actions[0].order, ResidencyPlanner::Order::kLoad);
  // A load that was asked for during a load needs another one.
  ASSERT_TRUE(planner.Ask(2, {"a", 0, 3, 0, true}).ok());
  planner.LoadEnded("a", base::Status::Ok(), 4);
  actions = planner.Step(4, {});
  ASSERT_EQ(actions.size(), 2u);
  EXPECT_THAT(actions[0].tickets, ElementsAre(1));
  EXPECT_EQ(actions[1].order, ResidencyPlanner::Order::kLoad);
}

}  // namespace
}  // namespace nereid::server
