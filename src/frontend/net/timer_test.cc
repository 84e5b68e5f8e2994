// SPDX-License-Identifier: Apache-2.0
#include "frontend/net/timer.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <vector>

namespace nereid::frontend::net {
namespace {

struct Alarm final : Timer {
  Alarm(std::vector<int>& log, int number) : log(log), number(number) {}
  void OnDeadline() override {
    log.push_back(number);
    if (on_deadline) on_deadline();
  }
  std::vector<int>& log;
  const int number;
  std::function<void()> on_deadline;
};

class TimerListTest : public ::testing::Test {
 protected:
  void FireUntil(uint64_t now_ns) {
    while (timers_.FireFirst(now_ns)) {
    }
  }

  TimerList timers_;
  std::vector<int> log_;
  Alarm one_{log_, 1}, two_{log_, 2}, three_{log_, 3};
};

TEST_F(TimerListTest, FiresInTheOrderOfTimesAndThenOfSetting) {
  timers_.Set(three_, 30);
  timers_.Set(two_, 20);
  timers_.Set(one_, 20);
  EXPECT_EQ(timers_.NextNs(), 20u);
  EXPECT_FALSE(timers_.FireFirst(19));
  FireUntil(29);
  EXPECT_EQ(log_, (std::vector{2, 1}));
  EXPECT_FALSE(one_.is_set());
  EXPECT_TRUE(three_.is_set());
  FireUntil(30);
  EXPECT_EQ(log_, (std::vector{2, 1, 3}));
  EXPECT_TRUE(timers_.empty());
}

TEST_F(TimerListTest, ATimerMayBeResetCancelledAndDestroyed) {
  auto gone = std::make_unique<Alarm>(log_, 4);
  timers_.Set(one_, 10);
  timers_.Set(two_, 10);
  timers_.Set(*gone, 10);
  timers_.Set(one_, 40);
  timers_.Cancel(two_);
  timers_.Cancel(three_);  // is not set
  gone.reset();
  FireUntil(30);
  EXPECT_TRUE(log_.empty());
  FireUntil(40);
  EXPECT_EQ(log_, (std::vector{1}));
}

TEST_F(TimerListTest, ATimerMaySetItselfAgainAndCancelOthersWhileItFires) {
  one_.on_deadline = [&] {
    timers_.Cancel(two_);
    if (log_.size() < 3) timers_.Set(one_, one_.deadline_ns() + 10);
  };
  timers_.Set(one_, 10);
  timers_.Set(two_, 10);
  FireUntil(100);
  EXPECT_EQ(log_, (std::vector{1, 1, 1}));
}

TEST_F(TimerListTest, ATimerMayDestroyItselfWhileItFires) {
  struct Owner {
    void OnTime() { timer.reset(); }
    std::unique_ptr<MemberTimer<Owner, &Owner::OnTime>> timer =
        std::make_unique<MemberTimer<Owner, &Owner::OnTime>>(*this);
  } owner;
  timers_.Set(*owner.timer, 10);
  FireUntil(10);
  EXPECT_EQ(owner.timer, nullptr);
  EXPECT_TRUE(timers_.empty());
}

}  // namespace
}  // namespace nereid::frontend::net
