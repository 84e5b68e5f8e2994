// SPDX-License-Identifier: Apache-2.0
#include "model/cpu/machine_load.h"

#include <gtest/gtest.h>

#include <vector>

namespace nereid::model {
namespace {

constexpr uint64_t kMs = 1'000'000;

TEST(FairThreads, ALoneExecutionMayUseAllCpus) {
  EXPECT_EQ(FairThreads(16, 0, 0, 0), 16);
  EXPECT_EQ(FairThreads(16, 0, 0, 1.2), 16) << "a lone client";
  EXPECT_EQ(FairThreads(1, 0, 0, 0), 1);
}

TEST(FairThreads, SeveralExecutionsShareTheCpus) {
  EXPECT_EQ(FairThreads(16, 3, 12, 0), 4);
  EXPECT_EQ(FairThreads(16, 3, 3, 0), 4) << "no more than a share, although 13 are idle";
  EXPECT_EQ(FairThreads(16, 1, 16, 0), 1) << "all are busy";
  EXPECT_EQ(FairThreads(16, 30, 30, 0), 1);
  EXPECT_EQ(FairThreads(16, 1, 1000, 0), 1);
}

TEST(FairThreads, AShortGapBetweenExecutionsIsNoIdleCpu) {
  EXPECT_EQ(FairThreads(16, 0, 0, 3.9), 4);
}

TEST(MeanRunning, DecaysInTensOfMilliseconds) {
  MeanRunning mean;
  mean.Advance(0, 1000 * kMs);
  mean.Advance(4, 2000 * kMs);
  EXPECT_NEAR(mean.value(), 4, 0.01);
  mean.Advance(0, 2001 * kMs);
  EXPECT_GT(mean.value(), 3.9);
  mean.Advance(0, 2400 * kMs);
  EXPECT_LT(mean.value(), 0.01);
  mean.Advance(9, 2400 * kMs);
  EXPECT_LT(mean.value(), 0.01) << "no time has passed";
}

TEST(MachineLoad, CountsExecutionsAndTheirThreads) {
  MachineLoad load(8);
  EXPECT_EQ(load.Permitted(kMs), 8);
  const auto first = load.Begin(2, kMs);
  EXPECT_EQ(load.Permitted(kMs), 4);
  const auto second = load.Begin(6, kMs);
  EXPECT_EQ(load.Permitted(kMs), 1);
  EXPECT_TRUE(load.End(first, 2 * kMs)) << "eight threads fit";
  EXPECT_TRUE(load.End(second, 2 * kMs));
  EXPECT_EQ(load.Permitted(2000 * kMs), 8);
}

TEST(MachineLoad, AnExecutionIsDisturbedByThoseThatCrowdTheCpus) {
  MachineLoad load(2);
  const auto wide = load.Begin(2, kMs);
  const auto late = load.Begin(1, 2 * kMs);
  EXPECT_FALSE(load.End(wide, 3 * kMs)) << "the other one came while it ran";
  EXPECT_FALSE(load.End(late, 3 * kMs)) << "it began when the CPUs were taken";
  EXPECT_TRUE(load.End(load.Begin(2, 4 * kMs), 5 * kMs));
}

TEST(MachineLoad, OnePreparationAtATime) {
  MachineLoad load(2);
  EXPECT_TRUE(load.BeginPreparation());
  EXPECT_FALSE(load.BeginPreparation());
  load.EndPreparation();
  EXPECT_TRUE(load.BeginPreparation());
}

}  // namespace
}  // namespace nereid::model
