// SPDX-License-Identifier: Apache-2.0
#include "frontend/http2/flood_guard.h"

#include <gtest/gtest.h>

namespace nereid::frontend::http2 {
namespace {

TEST(FloodGuard, LetsThroughWhatTimeAndWorkPayFor) {
  uint64_t now = 1'000'000'000;
  const auto clock = [&now] { return now; };
  FloodGuard guard(3, 10, now);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(guard.Allow(clock));
  EXPECT_FALSE(guard.Allow(clock));
  guard.Earn();
  EXPECT_TRUE(guard.Allow(clock));
  EXPECT_FALSE(guard.Allow(clock));
  now += 200'000'000;  // pays for two
  EXPECT_TRUE(guard.Allow(clock));
  EXPECT_TRUE(guard.Allow(clock));
  EXPECT_FALSE(guard.Allow(clock));
  now += uint64_t{3600} * 1'000'000'000;  // never more than the burst
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(guard.Allow(clock));
  EXPECT_FALSE(guard.Allow(clock));
}

}  // namespace
}  // namespace nereid::frontend::http2
