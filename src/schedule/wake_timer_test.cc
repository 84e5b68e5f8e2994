// SPDX-License-Identifier: Apache-2.0
#include "schedule/wake_timer.h"

#include <gtest/gtest.h>

#include <functional>

namespace nereid::schedule {
namespace {

class WakeTimerTest : public ::testing::Test {
 protected:
  base::FakeClock clock_{1'000'000};
  base::ManualTimerQueue timers_{clock_};
  int calls_ = 0;
  std::function<void()> on_call_;
  WakeTimer timer_{timers_, [this] {
                     ++calls_;
                     if (on_call_) on_call_();
                   }};
};

TEST_F(WakeTimerTest, FallingTimesUseOneTimer) {
  for (uint64_t i = 8'000; i > 0; --i) {
    timer_.WakeAt(clock_.NowNs() + i);
    ASSERT_EQ(timers_.size(), 1u);
  }
  clock_.Advance(1);
  EXPECT_EQ(timers_.RunDue(), 1);
  EXPECT_EQ(calls_, 1);
  EXPECT_EQ(timers_.size(), 0u) << "nothing is left of the later times";
}

TEST_F(WakeTimerTest, ALaterTimeChangesNothing) {
  timer_.WakeAt(clock_.NowNs() + 10);
  timer_.WakeAt(clock_.NowNs() + 20);
  timer_.WakeAt(base::kNever);
  clock_.Advance(10);
  EXPECT_EQ(timers_.RunDue(), 1);
  EXPECT_EQ(timers_.size(), 0u);
}

TEST_F(WakeTimerTest, TheFunctionMayRequestItsNextCall) {
  on_call_ = [this] {
    if (calls_ == 1) timer_.WakeAt(clock_.NowNs() + 5);
  };
  timer_.WakeAt(clock_.NowNs());
  EXPECT_EQ(timers_.RunDue(), 1);
  EXPECT_EQ(timers_.size(), 1u);
  clock_.Advance(5);
  EXPECT_EQ(timers_.RunDue(), 1);
  EXPECT_EQ(calls_, 2);
}

TEST_F(WakeTimerTest, NeverTakesNoTimer) {
  timer_.WakeAt(base::kNever);
  EXPECT_EQ(timers_.size(), 0u);
}

TEST(WakeTimerEndTest, TheDestructorCancelsTheCall) {
  base::FakeClock clock;
  base::ManualTimerQueue timers(clock);
  {
    WakeTimer timer(timers, [] { FAIL() << "called after its end"; });
    timer.WakeAt(clock.NowNs() + 7);
    timer.WakeAt(clock.NowNs() + 5);
  }
  EXPECT_EQ(timers.size(), 0u);
}

}  // namespace
}  // namespace nereid::schedule
