// SPDX-License-Identifier: Apache-2.0
#include "schedule/dynamic/lone_requests.h"

#include <gtest/gtest.h>

namespace nereid::schedule {
namespace {

/// Returns how many lone requests go at once before the next one waits.
uint32_t Skips(LoneRequests& history) {
  uint32_t count = 0;
  for (; history.GoesAtOnce(); ++count) history.OnWentAtOnce();
  return count;
}

TEST(LoneRequestsTest, WaitsInVainGrantMoreAndMore) {
  LoneRequests history;
  EXPECT_EQ(Skips(history), 0u) << "without a history the request waits";
  for (const uint32_t expected : {1u, 2u, 4u, 8u, 16u, 32u, 64u, 128u, 128u}) {
    history.OnDelayExpired(1);
    EXPECT_EQ(Skips(history), expected);
  }
}

TEST(LoneRequestsTest, CompanyStartsAnew) {
  LoneRequests history;
  for (int i = 0; i < 4; ++i) history.OnDelayExpired(1);
  ASSERT_TRUE(history.GoesAtOnce());
  history.OnOtherBatch(1);
  EXPECT_TRUE(history.GoesAtOnce());
  history.OnOtherBatch(2);
  EXPECT_FALSE(history.GoesAtOnce());
  history.OnDelayExpired(1);
  EXPECT_EQ(Skips(history), 1u);
  history.OnDelayExpired(2);
  EXPECT_FALSE(history.GoesAtOnce());
}

}  // namespace
}  // namespace nereid::schedule
