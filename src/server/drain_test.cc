// SPDX-License-Identifier: Apache-2.0
#include "server/drain.h"

#include <gtest/gtest.h>

namespace nereid::server {
namespace {

TEST(Drain, LastsUntilItIsEnded) {
  Drain drain;
  EXPECT_FALSE(drain.IsActive(5));
  EXPECT_EQ(drain.LeftNs(5), std::nullopt);
  drain.Begin(Drain::kForever);
  EXPECT_TRUE(drain.IsActive(UINT64_MAX - 1));
  EXPECT_EQ(drain.LeftNs(5), std::nullopt);
  drain.End();
  EXPECT_FALSE(drain.IsActive(5));
}

TEST(Drain, EndsByItself) {
  Drain drain;
  drain.Begin(10);
  EXPECT_TRUE(drain.IsActive(9));
  EXPECT_EQ(drain.LeftNs(4), 6u);
  EXPECT_FALSE(drain.IsActive(10));
  EXPECT_EQ(drain.LeftNs(10), std::nullopt);
  drain.Begin(20);  // anew, whether or not it has ended
  EXPECT_TRUE(drain.IsActive(10));
  EXPECT_EQ(drain.LeftNs(10), 10u);
}

TEST(Drain, NothingEndsTheLastOne) {
  Drain drain;
  drain.Begin(10);
  drain.BeginFinal();
  drain.End();
  EXPECT_TRUE(drain.IsFinal());
  EXPECT_TRUE(drain.IsActive(20));
  EXPECT_EQ(drain.LeftNs(5), std::nullopt);
}

}  // namespace
}  // namespace nereid::server
