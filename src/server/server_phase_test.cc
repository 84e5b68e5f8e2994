// SPDX-License-Identifier: Apache-2.0
#include "server/server_phase.h"

#include <gtest/gtest.h>

namespace nereid::server {
namespace {

TEST(ServerPhaseTest, FailsAndRecovers) {
  ServerPhase phase;
  EXPECT_TRUE(phase.CheckServing().ok());
  phase.Recover();
  EXPECT_EQ(phase.Get(), ServerPhase::Value::kServing);
  phase.Fail("disk");
  EXPECT_EQ(phase.failure(), "disk");
  EXPECT_EQ(phase.CheckServing().message(), "Server not ready");
  EXPECT_FALSE(*phase.IsLive());
  EXPECT_FALSE(phase.IsEnding());
  phase.Recover();
  EXPECT_TRUE(phase.CheckServing().ok());
  EXPECT_TRUE(*phase.IsLive());
}

TEST(ServerPhaseTest, NothingLeadsBackFromTheEnd) {
  ServerPhase phase;
  phase.Fail("x");
  phase.BeginEnding();
  phase.Recover();
  phase.Fail("x");
  EXPECT_EQ(phase.Get(), ServerPhase::Value::kEnding);
  EXPECT_TRUE(*phase.IsLive());
  EXPECT_TRUE(phase.IsEnding());
  EXPECT_FALSE(phase.IsStopping());
  EXPECT_TRUE(phase.BeginStopping());
  phase.BeginEnding();
  phase.Recover();
  EXPECT_FALSE(phase.BeginStopping());
  EXPECT_EQ(phase.Get(), ServerPhase::Value::kStopping);
  EXPECT_EQ(phase.IsLive().status().message(), "Server exiting");
  EXPECT_EQ(phase.CheckServing().message(), "Server not ready");
}

}  // namespace
}  // namespace nereid::server
