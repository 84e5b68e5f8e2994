// SPDX-License-Identifier: Apache-2.0
#include "frontend/http2/turn_budget.h"

#include <gtest/gtest.h>

namespace nereid::frontend::http2 {
namespace {

constexpr uint64_t kTurn = TurnBudget::kTurnNs;

TEST(TurnBudgetTest, ATurnBeginsWithTheFirstLookAtTheClock) {
  TurnBudget budget;
  budget.Begin();
  EXPECT_FALSE(budget.IsOver(5 * kTurn));
  EXPECT_FALSE(budget.IsOver(6 * kTurn - 1));
  EXPECT_TRUE(budget.IsOver(6 * kTurn));
  budget.Begin();
  EXPECT_FALSE(budget.IsOver(6 * kTurn + 1));
}

TEST(TurnBudgetTest, RepliesWaitSinceTheFirstTurnThatLeftSomething) {
  TurnBudget budget;
  budget.Begin();
  budget.IsOver(1);
  EXPECT_TRUE(budget.HoldsBack(1 + kTurn));
  budget.Begin();
  budget.IsOver(2 + kTurn);
  EXPECT_TRUE(budget.HoldsBack(TurnBudget::kHoldNs));
  EXPECT_FALSE(budget.HoldsBack(1 + TurnBudget::kHoldNs));
  budget.EndHold();
  EXPECT_TRUE(budget.HoldsBack(1 + TurnBudget::kHoldNs)) << "those of this turn alone";
}

}  // namespace
}  // namespace nereid::frontend::http2
