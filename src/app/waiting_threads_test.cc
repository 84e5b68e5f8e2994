// SPDX-License-Identifier: Apache-2.0
#include "app/waiting_threads.h"

#include <gtest/gtest.h>

#include <string>

namespace nereid::app {
namespace {

std::vector<EnvironmentVariable> With(const std::string& given) {
  return SleepingOpenMpThreads(
      [&](const char* name) { return given == name ? "anything" : nullptr; });
}

TEST(WaitingThreadsTest, OpenMpThreadsSleepByDefault) {
  const auto variables = With("");
  ASSERT_EQ(variables.size(), 2u);
  EXPECT_STREQ(variables[0].name, "OMP_WAIT_POLICY");
  EXPECT_STREQ(variables[0].value, "PASSIVE");
  EXPECT_STREQ(variables[1].name, "GOMP_SPINCOUNT");
  EXPECT_STREQ(variables[1].value, "1000");
}

TEST(WaitingThreadsTest, TheUsersSettingWins) {
  EXPECT_TRUE(With("OMP_WAIT_POLICY").empty());
  EXPECT_TRUE(With("GOMP_SPINCOUNT").empty());
  EXPECT_TRUE(With("KMP_BLOCKTIME").empty());
}

}  // namespace
}  // namespace nereid::app
