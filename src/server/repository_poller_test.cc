// SPDX-License-Identifier: Apache-2.0
#include "server/repository_poller.h"

#include <gtest/gtest.h>

#include <semaphore>

namespace nereid::server {
namespace {

TEST(RepositoryPollerTest, CallsOncePerPeriodAndEndsWithoutWaitingForOne) {
  base::FakeClock clock;
  base::ManualTimerQueue timers(clock);
  std::counting_semaphore<> called(0);
  const auto wait_for_timer = [&] {
    while (timers.size() == 0) std::this_thread::yield();
  };
  {
    RepositoryPoller poller([&] { called.release(); }, 15, clock, timers);
    ASSERT_TRUE(poller.Start().ok());
    wait_for_timer();
    clock.Advance(14);
    EXPECT_EQ(timers.RunDue(), 0);
    for (int i = 0; i < 3; ++i) {
      clock.Advance(15);
      EXPECT_EQ(timers.RunDue(), 1);
      called.acquire();
      wait_for_timer();
    }
  }
  EXPECT_EQ(timers.size(), 0u);
  EXPECT_FALSE(called.try_acquire());
}

}  // namespace
}  // namespace nereid::server
