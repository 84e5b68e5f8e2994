// SPDX-License-Identifier: Apache-2.0
#include "rollout/outcome_window.h"

#include <gtest/gtest.h>

namespace nereid::rollout {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;

Rollback Rule() {
  Rollback rule;
  rule.window_seconds = 10;
  rule.min_requests = 10;
  rule.max_error_parts = 1000;
  return rule;
}

TEST(OutcomeWindow, CountsTheLastSeconds) {
  OutcomeWindow window(10 * kSecond);
  window.Add(true, false, 100 * kSecond);
  window.Add(false, true, 105 * kSecond);
  EXPECT_EQ(window.Total(105 * kSecond).requests, 2u);
  EXPECT_EQ(window.Total(105 * kSecond).failed, 1u);
  EXPECT_EQ(window.Total(105 * kSecond).slow, 1u);
  EXPECT_EQ(window.Total(109 * kSecond).requests, 2u);
  EXPECT_EQ(window.Total(110 * kSecond).requests, 1u);
  EXPECT_EQ(window.Total(115 * kSecond).requests, 0u);
}

TEST(OutcomeWindow, AStepIsUsedAgain) {
  OutcomeWindow window(10 * kSecond);
  for (uint64_t second = 100; second < 200; ++second) {
    window.Add(second % 2 == 0, false, second * kSecond);
  }
  EXPECT_EQ(window.Total(199 * kSecond).requests, 10u);
  EXPECT_EQ(window.Total(199 * kSecond).failed, 5u);
}

TEST(OutcomeWindow, ALateReportOfAnOldStepIsIgnored) {
  OutcomeWindow window(10 * kSecond);
  window.Add(false, false, 100 * kSecond);
  window.Add(true, false, 90 * kSecond);
  EXPECT_EQ(window.Total(100 * kSecond).failed, 0u);
  EXPECT_EQ(window.Total(100 * kSecond).requests, 1u);
}

TEST(WhyRollBack, NeedsTheMinimumOfRequests) {
  EXPECT_EQ(WhyRollBack(Rule(), {9, 9, 0}), std::nullopt);
  EXPECT_EQ(WhyRollBack(Rule(), {10, 10, 0}),
            "10 of 10 requests of the last 10 s failed, more than 1000 in 10000");
}

TEST(WhyRollBack, FiresAboveTheErrorRateOnly) {
  EXPECT_EQ(WhyRollBack(Rule(), {100, 10, 100}), std::nullopt);
  EXPECT_NE(WhyRollBack(Rule(), {100, 11, 0}), std::nullopt);
  Rollback none = Rule();
  none.max_error_parts = 0;
  EXPECT_EQ(WhyRollBack(none, {100, 0, 0}), std::nullopt);
  EXPECT_NE(WhyRollBack(none, {100, 1, 0}), std::nullopt);
}

TEST(WhyRollBack, TheQuantileOfTheLatencyDecides) {
  Rollback rule = Rule();
  rule.max_error_parts.reset();
  rule.max_latency_us = 5000;
  rule.latency_parts = 9900;
  EXPECT_EQ(WhyRollBack(rule, {1000, 1000, 10}), std::nullopt);
  EXPECT_EQ(WhyRollBack(rule, {1000, 0, 11}),
            "11 of 1000 requests of the last 10 s took longer than 5000 us, more than 100 in "
            "10000");
}

}  // namespace
}  // namespace nereid::rollout
