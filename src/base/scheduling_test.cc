// SPDX-License-Identifier: Apache-2.0
#include "base/scheduling.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <optional>
#include <thread>

namespace nereid::base {
namespace {

TEST(SchedulingTest, AnOrdinaryThreadKeepsItsShare) {
  SchedulingAttributes ordinary;
  ordinary.nice = 5;
  const auto sliced = WithSlice(ordinary, 1'000'000);
  ASSERT_TRUE(sliced.has_value());
  EXPECT_EQ(sliced->policy, static_cast<uint32_t>(SCHED_OTHER));
  EXPECT_EQ(sliced->nice, 5);
  EXPECT_EQ(sliced->runtime, 1'000'000u);
}

TEST(SchedulingTest, WhatAnOperatorHasChosenStays) {
  SchedulingAttributes real_time;
  real_time.policy = SCHED_FIFO;
  real_time.priority = 1;
  EXPECT_FALSE(WithSlice(real_time, 1'000'000).has_value());
  SchedulingAttributes raised;
  raised.nice = -5;
  EXPECT_FALSE(WithSlice(raised, 1'000'000).has_value());
}

TEST(SchedulingTest, OnlyAPromptThreadItselfHasShortSlices) {
  const auto usual = ReadScheduling();
  if (!usual || usual->runtime == 0) GTEST_SKIP() << "the kernel has no slices of threads";
  if (!WithSlice(*usual, 1)) GTEST_SKIP() << "the tests run with a priority of their own";
  std::optional<SchedulingAttributes> own, started;
  std::thread([&] {
    WakePromptly();
    own = ReadScheduling();
    std::thread([&] { started = ReadScheduling(); }).join();
  }).join();
  EXPECT_EQ(own->runtime, 100'000u);
  EXPECT_EQ(own->nice, usual->nice);
  EXPECT_EQ(started->runtime, usual->runtime);
  EXPECT_EQ(ReadScheduling()->runtime, usual->runtime);
}

}  // namespace
}  // namespace nereid::base
