// SPDX-License-Identifier: Apache-2.0
#include "schedule/limits/rate_limiter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace nereid::schedule {
namespace {

using Id = RateLimiter::InstanceId;
using ::testing::ElementsAre;

LimitedInstance Needing(uint64_t r, uint32_t priority = 0) {
  return {0, priority, {{"R", false, r}}};
}

Id Add(RateLimiter& limiter, LimitedInstance instance) {
  auto ids = limiter.Register({std::move(instance)});
  EXPECT_TRUE(ids.ok()) << ids.status().message();
  return ids.ok() ? ids->at(0) : 0;
}

std::string Failure(RateLimiter& limiter, std::vector<LimitedInstance> instances) {
  const auto ids = limiter.Register(std::move(instances));
  EXPECT_FALSE(ids.ok());
  if (ids.ok()) return "";
  EXPECT_EQ(ids.status().code(), base::StatusCode::kInvalidArgument);
  return ids.status().message();
}

std::vector<Id> GrantAll(RateLimiter& limiter) {
  std::vector<Id> granted;
  while (const auto id = limiter.Grant()) granted.push_back(*id);
  return granted;
}

/// Lets an instance run `times` times by itself.
void Execute(RateLimiter& limiter, Id id, int times) {
  for (int i = 0; i < times; ++i) {
    limiter.Stage(id);
    ASSERT_THAT(GrantAll(limiter), ElementsAre(id));
    limiter.Release(id, true);
  }
}

TEST(RateLimiter, WithoutExplicitCapacityTheLargestNeedIsTheCapacity) {
  RateLimiter limiter;
  const Id four = Add(limiter, Needing(4));
  const Id six = Add(limiter, Needing(6));
  EXPECT_EQ(limiter.Capacity("R", 0), 6u);
  limiter.Stage(four);
  limiter.Stage(six);
  EXPECT_THAT(GrantAll(limiter), ElementsAre(four));
  limiter.Release(four, true);
  EXPECT_THAT(GrantAll(limiter), ElementsAre(six));
}

TEST(RateLimiter, ExplicitCapacityLetsBothRun) {
  RateLimiter limiter({{"R", 20, std::nullopt}});
  const Id four = Add(limiter, Needing(4));
  const Id six = Add(limiter, Needing(6));
  limiter.Stage(four);
  limiter.Stage(six);
  EXPECT_THAT(GrantAll(limiter), ElementsAre(four, six));
  EXPECT_EQ(limiter.InUse("R", 0), 10u);
}

TEST(RateLimiter, OnlyTheFirstInLineIsTried) {
  RateLimiter limiter;
  const Id large = Add(limiter, Needing(6));
  const Id small = Add(limiter, Needing(4));
  const Id free = Add(limiter, {});
  limiter.Stage(small);
  EXPECT_THAT(GrantAll(limiter), ElementsAre(small));
  limiter.Stage(large);
  limiter.Stage(free);  // needs nothing, and waits all the same
  EXPECT_THAT(GrantAll(limiter), ElementsAre());
  limiter.Release(small, true);
  EXPECT_THAT(GrantAll(limiter), ElementsAre(large, free));
}

TEST(RateLimiter, FewestExecutionsTimesPriorityGoFirst) {
  RateLimiter limiter;
  const Id often = Add(limiter, Needing(1, 1));
  const Id seldom = Add(limiter, Needing(1, 3));
  Execute(limiter, often, 9);   // (2 + 9) × 1
  Execute(limiter, seldom, 2);  // (2 + 2) × 3
  limiter.Stage(seldom);
  limiter.Stage(often);
  EXPECT_THAT(GrantAll(limiter), ElementsAre(often));
  limiter.Release(often, true);  // (2 + 10) × 1: equal
  EXPECT_EQ(limiter.Choose({seldom, often}), seldom);
  EXPECT_EQ(limiter.Choose({often, seldom}), often);
}

// The initialization and the warmup count, as in Triton.
TEST(RateLimiter, ANewInstanceHasTwoExecutions) {
  RateLimiter limiter;
  const Id one = Add(limiter, Needing(1, 1));
  const Id two = Add(limiter, Needing(1, 2));
  limiter.Stage(two);
  limiter.Stage(one);
  EXPECT_THAT(GrantAll(limiter), ElementsAre(one)) << "2 × 1 is less than 2 × 2";
  EXPECT_EQ(limiter.executions(one), 0u) << "what is reported is what was executed";
}

// Triton's own test: a client for each model has eight requests in flight, and sends no more once
// one client has sent its 80th. The model with the priority 1 has answered more than 1.8 times as
// many.
TEST(RateLimiter, PrioritiesDivideTheTimeOfTwoBusyModels) {
  constexpr int kSent = 80, kInFlight = 8;
  RateLimiter limiter;
  const std::array<Id, 2> ids = {Add(limiter, Needing(1, 1)), Add(limiter, Needing(1, 2))};
  std::array<int, 2> answered = {0, 0};
  for (const Id id : ids) limiter.Stage(id);
  std::vector<Id> running = GrantAll(limiter);
  while (answered[0] + kInFlight < kSent) {
    ASSERT_EQ(running.size(), 1u);
    const Id done = running.front();
    ++answered[done == ids[0] ? 0 : 1];
    limiter.Release(done, true);
    limiter.Stage(done);
    running = GrantAll(limiter);
  }
  // The client of the other model sends one more when its next request is answered.
  const int second = answered[1] + kInFlight + 1;
  EXPECT_GT(double{kSent} / second, 1.8) << second;
}

TEST(RateLimiter, EqualsGoInOrderOfArrival) {
  RateLimiter limiter;
  const Id a = Add(limiter, Needing(1));
  const Id b = Add(limiter, Needing(1));
  limiter.Stage(b);
  limiter.Stage(a);
  limiter.Stage(b);  // twice is once
  EXPECT_THAT(GrantAll(limiter), ElementsAre(b));
  limiter.Release(b, true);
  EXPECT_THAT(GrantAll(limiter), ElementsAre(a));
}

TEST(RateLimiter, PriorityZeroIsOneAndLargeProductsSaturate) {
  RateLimiter limiter;
  const Id zero = Add(limiter, Needing(1, 0));
  const Id huge = Add(limiter, Needing(1, UINT32_MAX));
  Execute(limiter, zero, 3);
  Execute(limiter, huge, 3);
  EXPECT_EQ(limiter.Choose({huge, zero}), zero);
}

TEST(RateLimiter, DevicesHaveSuppliesOfTheirOwnAndGlobalOnesAreShared) {
  RateLimiter limiter;
  const Id here = Add(limiter, {0, 0, {{"R", false, 1}, {"G", true, 1}}});
  const Id there = Add(limiter, {1, 0, {{"R", false, 1}}});
  const Id global = Add(limiter, {1, 0, {{"G", true, 1}}});
  limiter.Stage(here);
  limiter.Stage(there);
  limiter.Stage(global);
  EXPECT_THAT(GrantAll(limiter), ElementsAre(here, there));
  limiter.Release(there, true);
  EXPECT_THAT(GrantAll(limiter), ElementsAre());
  limiter.Release(here, true);
  EXPECT_THAT(GrantAll(limiter), ElementsAre(global));
}

TEST(RateLimiter, ANeedAboveTheCapacityIsRefusedWithItsNumbers) {
  RateLimiter limiter({{"R", 3, std::nullopt}});
  EXPECT_EQ(Failure(limiter, {Needing(3), Needing(4)}),
            "Resource count for \"R\" is limited to 3 which will prevent scheduling of one or more "
            "model instances, the minimum required count is 4");
  EXPECT_EQ(Failure(limiter, {{0, 0, {{"S", false, 1}}}}),
            "Resource count for \"S\" is limited to 0 which will prevent scheduling of one or more "
            "model instances, the minimum required count is 1");
  EXPECT_EQ(limiter.Capacity("R", 0), 0u) << "a refused model must leave nothing behind";
}

TEST(RateLimiter, AResourceIsGlobalOrOfADevice) {
  RateLimiter limiter;
  const std::string text =
      "Resource \"R\" is present as both global and device-specific resource in the model "
      "configuration.";
  EXPECT_EQ(Failure(limiter, {{0, 0, {{"R", true, 4}, {"R", false, 2}}}}), text);
  const Id device = Add(limiter, Needing(4));
  EXPECT_EQ(Failure(limiter, {{0, 0, {{"R", true, 4}}}}), text);
  limiter.Unregister(device);
  Add(limiter, {0, 0, {{"R", true, 4}}});
}

// What the reference server does with these flags, tried out.
TEST(RateLimiter, ExplicitCapacitiesCombine) {
  const auto capacity = [](std::vector<ResourceCapacity> given, bool global) {
    RateLimiter limiter(given);
    Add(limiter, {0, 0, {{"R", global, 1}}});
    return limiter.Capacity("R", global ? std::nullopt : std::optional<int32_t>(0));
  };
  EXPECT_EQ(capacity({{"R", 3, 0}, {"R", 20, std::nullopt}}, false), 20u);
  EXPECT_EQ(capacity({{"R", 20, 0}, {"R", 3, std::nullopt}}, false), 20u);
  EXPECT_EQ(capacity({{"R", 2, 0}, {"R", 9, 1}}, false), 2u);
  EXPECT_EQ(capacity({{"R", 3, 1}, {"R", 2, 2}}, true), 3u);
  EXPECT_EQ(capacity({{"R", 3, std::nullopt}, {"R", 5, std::nullopt}}, false), 3u);
  EXPECT_EQ(capacity({{"R", 5, std::nullopt}, {"R", 3, std::nullopt}}, false), 3u);
}

TEST(RateLimiter, ANameTwiceInOneInstanceCountsOnce) {
  RateLimiter limiter;
  Add(limiter, {0, 0, {{"R", false, 4}, {"R", false, 2}}});
  EXPECT_EQ(limiter.Capacity("R", 0), 2u);
}

TEST(RateLimiter, WithdrawnInstancesLeaveTheLine) {
  RateLimiter limiter;
  const Id first = Add(limiter, Needing(6));
  const Id second = Add(limiter, Needing(6));
  limiter.Stage(first);
  limiter.Stage(second);
  EXPECT_TRUE(limiter.Withdraw(first));
  EXPECT_THAT(GrantAll(limiter), ElementsAre(second));
  EXPECT_FALSE(limiter.Withdraw(second)) << "it is allocated";
  EXPECT_FALSE(limiter.Withdraw(first)) << "it is available";
}

TEST(RateLimiter, AnInstanceThatFoundNothingToExecuteIsNotCharged) {
  RateLimiter limiter;
  const Id id = Add(limiter, Needing(1));
  limiter.Stage(id);
  GrantAll(limiter);
  limiter.Release(id, false);
  EXPECT_EQ(limiter.executions(id), 0u);
  EXPECT_EQ(limiter.InUse("R", 0), 0u);
}

TEST(RateLimiter, UnregisteringFreesPlacesAndResources) {
  RateLimiter limiter;
  const Id running = Add(limiter, Needing(6));
  const Id first = Add(limiter, Needing(6));
  const Id second = Add(limiter, Needing(4));
  limiter.Stage(running);
  GrantAll(limiter);
  limiter.Stage(first);
  limiter.Stage(second);
  limiter.Unregister(first);
  EXPECT_THAT(GrantAll(limiter), ElementsAre());
  limiter.Unregister(running);
  EXPECT_EQ(limiter.Capacity("R", 0), 4u);
  EXPECT_THAT(GrantAll(limiter), ElementsAre(second));
  limiter.Release(running, true);  // too late, and harmless
  EXPECT_EQ(limiter.InUse("R", 0), 4u);
}

TEST(RateLimiter, ACapacityThatShrinksBelowWhatIsInUseWaitsForIt) {
  RateLimiter limiter;
  const Id large = Add(limiter, Needing(8));
  const Id a = Add(limiter, Needing(4));
  const Id b = Add(limiter, Needing(4));
  limiter.Stage(a);
  limiter.Stage(b);
  EXPECT_THAT(GrantAll(limiter), ElementsAre(a, b));
  limiter.Unregister(large);  // 8 in use, 4 there
  limiter.Release(a, true);
  limiter.Stage(a);
  EXPECT_THAT(GrantAll(limiter), ElementsAre());
  limiter.Release(b, true);
  EXPECT_THAT(GrantAll(limiter), ElementsAre(a));
}

}  // namespace
}  // namespace nereid::schedule
