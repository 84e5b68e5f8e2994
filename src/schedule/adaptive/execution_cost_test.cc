// SPDX-License-Identifier: Apache-2.0
#include "schedule/adaptive/execution_cost.h"

#include <gtest/gtest.h>

#include <random>

namespace nereid::schedule {
namespace {

TEST(ExecutionCost, FindsTheLine) {
  ExecutionCost cost;
  EXPECT_FALSE(cost.known());
  for (uint64_t i = 0; i < 40; ++i) cost.Record(1 + i % 8, 1000 + 100 * (1 + i % 8));
  EXPECT_TRUE(cost.known());
  EXPECT_NEAR(static_cast<double>(cost.ExpectedNs(4)), 1400, 5);
  EXPECT_NEAR(static_cast<double>(cost.ExpectedNs(32)), 4200, 20);
  EXPECT_NEAR(cost.GainOfNextRequest(1), 1000.0 / (2 * 1100), 0.01);
  EXPECT_NEAR(cost.GainOfNextRequest(20), 1000.0 / (21 * 3000), 0.001);
}

TEST(ExecutionCost, OneSizeAloneIsNoReasonForOptimism) {
  ExecutionCost cost;
  for (int i = 0; i < 10; ++i) cost.Record(4, 2000);
  EXPECT_EQ(cost.ExpectedNs(8), 4000u);
  EXPECT_EQ(cost.ExpectedNs(1), 2000u);
  EXPECT_EQ(cost.GainOfNextRequest(4), 1);
}

TEST(ExecutionCost, NoiseNeverMakesLargerBatchesCheaper) {
  ExecutionCost cost;
  for (int i = 0; i < 20; ++i) cost.Record(i % 2 == 0 ? 1 : 8, i % 2 == 0 ? 900 : 100);
  EXPECT_GE(cost.ExpectedNs(8), cost.ExpectedNs(1));
  ExecutionCost steep;  // its line begins below nothing
  for (int i = 0; i < 20; ++i) steep.Record(i % 2 == 0 ? 1 : 8, i % 2 == 0 ? 10 : 10'000);
  EXPECT_GE(steep.ExpectedNs(1), 1u);
  EXPECT_EQ(steep.GainOfNextRequest(1), 0);
}

TEST(ExecutionCost, TheUpperBoundHoldsForNearlyAll) {
  std::mt19937 random(5);
  std::normal_distribution<double> noise(0, 100);
  ExecutionCost cost;
  int above = 0;
  for (int i = 0; i < 2000; ++i) {
    const uint64_t size = 1 + random() % 16;
    const auto ns = static_cast<uint64_t>(5000 + 200.0 * static_cast<double>(size) + noise(random));
    if (i > 100 && ns > cost.UpperNs(size)) ++above;
    cost.Record(size, ns);
  }
  EXPECT_LT(above, 20);
}

TEST(ExecutionCost, KnowsWhatBatchesCanSave) {
  ExecutionCost cheaper, same;
  for (uint64_t i = 0; i < 40; ++i) {
    const uint64_t size = 1 + i % 8;
    cheaper.Record(size, 1000 + 100 * size);
    same.Record(size, 1000 * size);
  }
  EXPECT_NEAR(cheaper.LargestSaving(), 1000.0 / 1100, 0.01);
  EXPECT_NEAR(same.LargestSaving(), 0, 0.001);
  ExecutionCost unknown;
  unknown.Record(1, 1000);
  EXPECT_EQ(unknown.LargestSaving(), 1);
}

// Executions that cost in proportion to their sizes seem to have a fixed cost by chance.
TEST(ExecutionCost, NoiseIsNoSaving) {
  std::mt19937 random(11);
  std::normal_distribution<double> noise(1, 0.2);
  ExecutionCost cost;
  int worth = 0;
  for (int i = 0; i < 2000; ++i) {
    const uint64_t size = 1 + random() % 2;
    cost.Record(size, static_cast<uint64_t>(100'000.0 * static_cast<double>(size) * noise(random)));
    if (i > 100 && cost.LargestSaving() > 0.1) ++worth;
  }
  EXPECT_LT(worth, 60);
}

TEST(ExecutionCost, ForgetsWhatIsPast) {
  ExecutionCost cost;
  for (uint64_t i = 0; i < 200; ++i) cost.Record(1 + i % 8, 1000);
  for (uint64_t i = 0; i < 300; ++i) cost.Record(1 + i % 8, 9000);
  EXPECT_NEAR(static_cast<double>(cost.ExpectedNs(4)), 9000, 100);
}

}  // namespace
}  // namespace nereid::schedule
