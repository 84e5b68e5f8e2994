// SPDX-License-Identifier: Apache-2.0
#include "watchdog/watchdog.h"

#include <gtest/gtest.h>

#include <semaphore>
#include <thread>

#include "base/blocking_workers.h"
#include "base/clock.h"
#include "base/timer_queue.h"

namespace nereid::watchdog {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kBound = 40 * kSecond;
constexpr uint64_t kPeriod = 5 * kSecond;

class TestStage final : public base::Stage {
 public:
  std::optional<base::StageSample> Sample(uint64_t) override { return sample; }
  std::optional<base::StageSample> sample = base::StageSample{};
};

class WatchdogTest : public ::testing::Test {
 protected:
  /// Rounds until the bound has passed.
  void Wait() {
    for (uint64_t i = 0; i <= kBound / kPeriod; ++i) {
      clock_.Advance(kPeriod);
      watchdog_.Check();
    }
  }
  /// Returns what is found about a stage; empty if nothing is.
  std::string Found(const std::string& name) const {
    for (const Finding& finding : watchdog_.Findings()) {
      if (finding.facts.name == name) return Describe(finding);
    }
    return "";
  }
  uint64_t Alarms(base::StageKind kind) const {
    return watchdog_.counts().alarms[static_cast<size_t>(kind)];
  }

  base::FakeClock clock_;
  Watchdog watchdog_{kBound, base::ProcessStages(), clock_};
};

TEST(PeriodFor, IsAFractionOfTheBound) {
  EXPECT_EQ(PeriodFor(kBound), kPeriod);
  EXPECT_EQ(PeriodFor(3600 * kSecond), 5 * kSecond);
  EXPECT_EQ(PeriodFor(2 * kSecond), kSecond / 4);
  EXPECT_EQ(PeriodFor(1), kSecond / 10);
}

TEST_F(WatchdogTest, NamesAndCountsAStageThatIsStuck) {
  TestStage stage;
  const base::StageList::Entry entry({base::StageKind::kEventLoop, "test-loop"}, stage);
  watchdog_.Check();
  EXPECT_EQ(Found("test-loop"), "");
  stage.sample->blocked_since_ns = clock_.NowNs();
  stage.sample->detail = "a task waits";
  Wait();
  EXPECT_EQ(Found("test-loop"), "event-loop 'test-loop' has not moved for 45 s: a task waits");
  EXPECT_TRUE(watchdog_.HasFatal());
  EXPECT_EQ(Alarms(base::StageKind::kEventLoop), 1u);
  Wait();
  EXPECT_EQ(Alarms(base::StageKind::kEventLoop), 1u);  // the same one
  stage.sample->blocked_since_ns = 0;
  watchdog_.Check();
  EXPECT_EQ(Found("test-loop"), "");
  EXPECT_FALSE(watchdog_.HasFatal());
  EXPECT_EQ(watchdog_.counts().rounds, 2 * (kBound / kPeriod + 1) + 2);
}

TEST_F(WatchdogTest, AStageThatMayWaitIsNotFatal) {
  TestStage stage;
  const base::StageList::Entry entry({base::StageKind::kPool, "test", /*must_move=*/false}, stage);
  stage.sample->blocked_since_ns = clock_.NowNs();
  Wait();
  EXPECT_NE(Found("test"), "");
  EXPECT_FALSE(watchdog_.HasFatal());
}

TEST_F(WatchdogTest, APoolWhoseThreadsAreBusyIsNamed) {
  base::BlockingWorkers pool("test-pool", 1, SIZE_MAX, base::PoolWork::kComputes);
  std::binary_semaphore begun{0}, go_on{0}, done{0};
  pool.Run([&] {
    begun.release();
    go_on.acquire();
  });
  begun.acquire();
  Wait();
  EXPECT_EQ(Found("test-pool"), "");  // a task that takes long holds nobody up
  pool.Run([&] { done.release(); });
  Wait();
  EXPECT_EQ(Found("test-pool"), "pool 'test-pool' has not moved for 40 s: 1 tasks wait");
  EXPECT_TRUE(watchdog_.HasFatal());
  go_on.release();
  done.acquire();
  do {
    watchdog_.Check();  // the pool's thread may have its lock for a moment after a task
  } while (Found("test-pool").ends_with("its lock is held"));
  EXPECT_EQ(Found("test-pool"), "");
}

TEST_F(WatchdogTest, ACallbackThatDoesNotEndHoldsTheTimers) {
  base::ThreadTimerQueue timers;
  const base::StageList::Entry entry({base::StageKind::kTimers, "test-timers"}, timers);
  std::binary_semaphore begun{0}, go_on{0};
  timers.Schedule(1, [&] {
    begun.release();
    go_on.acquire();
  });
  begun.acquire();
  // The queue's clock is the machine's, and so are the times that it tells.
  const uint64_t now = base::SteadyClock().NowNs();
  const auto sample = timers.Sample(now + kSecond);
  ASSERT_TRUE(sample.has_value());
  EXPECT_NE(sample->blocked_since_ns, 0u);
  EXPECT_LE(sample->blocked_since_ns, now);
  go_on.release();
}

TEST_F(WatchdogTest, TimersThatAreNotDueHoldNothing) {
  base::ThreadTimerQueue timers;
  const uint64_t now = base::SteadyClock().NowNs();
  const auto id = timers.Schedule(now + 3600 * kSecond, [] {});
  EXPECT_EQ(timers.Sample(now)->blocked_since_ns, 0u);
  EXPECT_EQ(timers.Sample(now + 3601 * kSecond)->blocked_since_ns, now + 3600 * kSecond);
  timers.Cancel(id);
  EXPECT_EQ(timers.Sample(now + 3601 * kSecond)->blocked_since_ns, 0u);
}

TEST_F(WatchdogTest, TheThreadStartsAndEnds) {
  TestStage stage;
  Watchdog watchdog(kBound);
  ASSERT_TRUE(watchdog.Start().ok());
}

}  // namespace
}  // namespace nereid::watchdog
