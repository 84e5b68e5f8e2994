// SPDX-License-Identifier: Apache-2.0
#include "frontend/net/loop_stage.h"

#include <gtest/gtest.h>

#include "frontend/net/testing/manual_loop.h"

namespace nereid::frontend::net {
namespace {

uint64_t Blocked(LoopStage& stage, uint64_t now) { return stage.Sample(now)->blocked_since_ns; }

TEST(LoopStage, ALoopThatTurnsMoves) {
  base::FakeClock clock;
  testing::ManualLoop loop(clock);
  const auto stage = std::make_shared<LoopStage>(loop.inbox());
  for (uint64_t now = 1; now < 5; ++now) {
    EXPECT_EQ(Blocked(*stage, now), 0u);
    loop.RunTurn();
  }
}

TEST(LoopStage, ALoopThatDoesNotTurnIsBlockedSinceTheQuestion) {
  base::FakeClock clock;
  testing::ManualLoop loop(clock);
  const auto stage = std::make_shared<LoopStage>(loop.inbox());
  EXPECT_EQ(Blocked(*stage, 10), 0u);
  EXPECT_EQ(Blocked(*stage, 20), 10u);
  EXPECT_EQ(Blocked(*stage, 30), 10u);
  loop.RunTurn();
  EXPECT_EQ(Blocked(*stage, 40), 0u);  // and asks again
  EXPECT_EQ(Blocked(*stage, 50), 40u);
  loop.RunTurn();
}

TEST(LoopStage, ALoopThatHasEndedBlocksNothing) {
  std::shared_ptr<LoopStage> stage;
  {
    base::FakeClock clock;
    testing::ManualLoop loop(clock);
    stage = std::make_shared<LoopStage>(loop.inbox());
    EXPECT_EQ(Blocked(*stage, 10), 0u);
    loop.inbox()->Close();
  }
  for (uint64_t now = 20; now < 25; ++now) EXPECT_EQ(Blocked(*stage, now), 0u);
}

}  // namespace
}  // namespace nereid::frontend::net
