// SPDX-License-Identifier: Apache-2.0
#include "server/repository_poller.h"

#include <gtest/gtest.h>

#include <optional>
#include <semaphore>
#include <utility>

namespace nereid::server {
namespace {

TEST(RepositoryPollerTest, CallsOncePerPeriodAndEndsWithoutWaitingForOne) {
  base::FakeClock clock;
  base::ManualTimerQueue timers(clock);
  std::counting_semaphore<> called(0);
  std::optional<uint64_t> next_ns;
  const auto wait_for_timer = [&] {
    while (timers.size() == 0) std::this_thread::yield();
  };
  {
    const auto poll = [&] {
      const auto wanted = std::exchange(next_ns, std::nullopt);
      called.release();
      return wanted;
    };
    RepositoryPoller poller(poll, 15, clock, timers);
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
    // A call may ask for an earlier one, which does not change the period after it.
    next_ns = clock.NowNs() + 15 + 3;
    for (const uint64_t pause : {15, 3, 15}) {
      clock.Advance(pause - 1);
      EXPECT_EQ(timers.RunDue(), 0);
      clock.Advance(1);
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
