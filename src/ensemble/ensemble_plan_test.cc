// SPDX-License-Identifier: Apache-2.0
#include "ensemble/ensemble_plan.h"

#include <gtest/gtest.h>

#include "ensemble/testing/make_plan.h"

namespace nereid::ensemble {
namespace {

TEST(EnsemblePlanTest, JoinsStepsByTensorsInAnyOrder) {
  const EnsemblePlan plan = MakePlan({{"last", {"t"}, {"y"}}, {"first", {"x"}, {"t"}}});
  ASSERT_EQ(plan.steps().size(), 2u);
  const auto& t = plan.tensors()[static_cast<size_t>(plan.FindTensor("t"))];
  EXPECT_EQ(t.producer, 1);
  EXPECT_EQ(t.consumers, std::vector<size_t>{0});
  EXPECT_EQ(plan.tensors()[static_cast<size_t>(plan.FindTensor("x"))].producer, kNoStep);
  EXPECT_EQ(plan.FindTensor("absent"), -1);
  EXPECT_FALSE(plan.decoupled());
}

TEST(EnsemblePlanTest, LeavesOutWhatNobodyAsksFor) {
  const EnsemblePlan plan =
      MakePlan({{"a", {"x"}, {"t"}}, {"b", {"t"}, {"y"}}, {"c", {"t"}, {"z"}}});
  const auto y = static_cast<size_t>(plan.FindTensor("y"));
  EXPECT_EQ(plan.StepsFor({y}), (std::vector<bool>{true, true, false}));
}

TEST(EnsemblePlanTest, StepsBehindADecoupledOneHaveItAsTheirOrigin) {
  const EnsemblePlan plan =
      MakePlan({{"out", {"t", "x"}, {"y"}}, {"D", {"x"}, {"s"}}, {"middle", {"s"}, {"t"}}});
  EXPECT_TRUE(plan.decoupled());
  EXPECT_EQ(plan.steps()[0].origin, 1);
  EXPECT_EQ(plan.steps()[1].origin, kNoStep);
  EXPECT_EQ(plan.steps()[2].origin, 1);
  EXPECT_EQ(plan.tensors()[static_cast<size_t>(plan.FindTensor("x"))].origin, kNoStep);
}

TEST(EnsemblePlanTest, ThereIsABoundWhereNoneIsConfigured) {
  EXPECT_EQ(MakePlan({{"a", {"x"}, {"y"}}}, /*max_inflight_requests=*/3).max_inflight(), 3u);
  EXPECT_GT(MakePlan({{"a", {"x"}, {"y"}}}).max_inflight(), 1000u);
}

}  // namespace
}  // namespace nereid::ensemble
