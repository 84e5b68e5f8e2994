// SPDX-License-Identifier: Apache-2.0
#include "frontend/net/event_loop.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "base/byte_budget.h"
#include "base/clock.h"
#include "frontend/net/epoll_loop.h"
#include "frontend/net/testing/manual_loop.h"

namespace nereid::frontend::net {
namespace {

constexpr uint64_t kMs = 1'000'000;

struct Step final : Task {
  explicit Step(std::function<void()> run) : run(std::move(run)) {}
  void Run() noexcept override { run(); }
  void Drop() noexcept override { ++dropped; }
  std::function<void()> run;
  int dropped = 0;
};

struct Alarm final : Timer {
  explicit Alarm(std::function<void()> run) : run(std::move(run)) {}
  void OnDeadline() override { run(); }
  std::function<void()> run;
};

struct CountTurns final : EventLoop::TurnListener {
  void OnTurnEnd() noexcept override { ++turns; }
  int turns = 0;
};

class EventLoopTest : public ::testing::Test {
 protected:
  base::FakeClock clock_;
  net::testing::ManualLoop loop_{clock_};
};

TEST_F(EventLoopTest, FiresTimersAtTheirTime) {
  int fired = 0;
  Alarm alarm([&] { ++fired; });
  loop_.SetTimer(alarm, clock_.NowNs() + 10 * kMs);
  loop_.RunTurn();
  clock_.Advance(9 * kMs);
  loop_.RunTurn();
  EXPECT_EQ(fired, 0);
  clock_.Advance(1 * kMs);
  loop_.RunTurn();
  loop_.RunTurn();
  EXPECT_EQ(fired, 1);
  loop_.SetTimer(alarm, clock_.NowNs());
  loop_.CancelTimer(alarm);
  loop_.RunTurn();
  EXPECT_EQ(fired, 1);
}

TEST_F(EventLoopTest, TimersAndTasksThatTakeLongWaitForTheNextTurn) {
  int fired = 0, ran = 0;
  std::vector<std::unique_ptr<Alarm>> alarms;
  std::vector<std::unique_ptr<Step>> steps;
  for (int i = 0; i < 100; ++i) {
    alarms.push_back(std::make_unique<Alarm>([&] {
      ++fired;
      clock_.Advance(1 * kMs);
    }));
    loop_.SetTimer(*alarms.back(), clock_.NowNs());
    steps.push_back(std::make_unique<Step>([&] {
      ++ran;
      clock_.Advance(1 * kMs);
    }));
    loop_.Post(*steps.back(), nullptr);
  }
  loop_.RunTurn();
  EXPECT_GT(fired, 0);
  EXPECT_LT(fired, 50);
  EXPECT_GT(ran, 0);
  EXPECT_LT(ran, 50);
  for (int turn = 0; turn < 20; ++turn) loop_.RunTurn();
  EXPECT_EQ(fired, 100);
  EXPECT_EQ(ran, 100);
}

TEST_F(EventLoopTest, ATaskOfATaskRunsInTheNextTurn) {
  int ran = 0;
  Step inner([&] { ++ran; });
  Step outer([&] { loop_.Post(inner, nullptr); });
  loop_.Post(outer, nullptr);
  loop_.RunTurn();
  EXPECT_EQ(ran, 0);
  loop_.RunTurn();
  EXPECT_EQ(ran, 1);
}

TEST_F(EventLoopTest, TheListenerHearsOfTurnsInWhichSomethingRan) {
  CountTurns listener;
  loop_.SetTurnListener(&listener);
  loop_.RunTurn();
  EXPECT_EQ(listener.turns, 0);
  Step step([] {});
  loop_.Post(step, nullptr);
  loop_.RunTurn();
  EXPECT_EQ(listener.turns, 1);
  Alarm alarm([] {});
  loop_.SetTimer(alarm, clock_.NowNs());
  loop_.RunTurn();
  EXPECT_EQ(listener.turns, 2);
}

TEST_F(EventLoopTest, AnExceptionOfATimerIsNotTheEndOfTheOthers) {
  bool fired = false;
  Alarm bad([] { throw std::bad_alloc(); });
  Alarm good([&] { fired = true; });
  loop_.SetTimer(bad, clock_.NowNs());
  loop_.SetTimer(good, clock_.NowNs());
  loop_.RunTurn();
  EXPECT_TRUE(fired);
}

TEST_F(EventLoopTest, RunForbidsBlockingAndIsTheCurrentLoop) {
  EXPECT_EQ(EventLoop::Current(), nullptr);
  Step late([] {});
  Step step([&] {
    EXPECT_EQ(EventLoop::Current(), &loop_);
    EXPECT_FALSE(base::ThreadMayBlock());
    loop_.Post(late, nullptr);
    loop_.Stop();
  });
  loop_.Post(step, nullptr);
  std::thread([&] { loop_.Run(); }).join();
  EXPECT_EQ(late.dropped, 1);
  loop_.Post(late, nullptr);  // the loop has ended
  EXPECT_EQ(late.dropped, 2);
}

/// A socket pair; the loop under test watches the first one.
class EpollLoopTest : public ::testing::Test, protected Watcher {
 protected:
  EpollLoopTest() {
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair_), 0);
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, other_), 0);
  }
  ~EpollLoopTest() override {
    for (const int descriptor : {pair_[0], pair_[1], other_[0], other_[1]}) close(descriptor);
  }
  void OnReady(Ready ready) noexcept override {
    ++calls_;
    ready_ = ready;
    if (on_ready_) on_ready_();
  }

  base::FakeClock clock_;
  const std::unique_ptr<EventLoop> loop_ = EpollLoop::Make(clock_).value();
  int pair_[2] = {-1, -1};
  int other_[2] = {-1, -1};
  int calls_ = 0;
  Ready ready_;
  std::function<void()> on_ready_;
};

TEST_F(EpollLoopTest, TellsWhatIsWantedForAsLongAsItIsTrue) {
  ASSERT_TRUE(loop_->Watch(pair_[0], *this, {.reading = true}));
  loop_->RunTurn();
  EXPECT_EQ(calls_, 0);
  ASSERT_EQ(write(pair_[1], "x", 1), 1);
  loop_->RunTurn();
  loop_->RunTurn();
  EXPECT_EQ(calls_, 2);
  EXPECT_TRUE(ready_.readable);
  EXPECT_FALSE(ready_.writable);
  loop_->Change(pair_[0], *this, {.writing = true});
  loop_->RunTurn();
  EXPECT_FALSE(ready_.readable);
  EXPECT_TRUE(ready_.writable);
  loop_->Change(pair_[0], *this, {});
  loop_->RunTurn();
  EXPECT_EQ(calls_, 3);
  shutdown(pair_[1], SHUT_RDWR);
  close(std::exchange(pair_[1], -1));
  loop_->RunTurn();
  EXPECT_TRUE(ready_.lost);
  loop_->Unwatch(pair_[0], *this);
  loop_->RunTurn();
  EXPECT_EQ(calls_, 4);
}

TEST_F(EpollLoopTest, AWatcherThatIsGoneIsNotCalledInTheSameTurn) {
  ASSERT_TRUE(loop_->Watch(pair_[0], *this, {.writing = true}));
  ASSERT_TRUE(loop_->Watch(other_[0], *this, {.writing = true}));
  on_ready_ = [this] {
    loop_->Unwatch(pair_[0], *this);
    loop_->Unwatch(other_[0], *this);
  };
  loop_->RunTurn();
  EXPECT_EQ(calls_, 1);
}

TEST_F(EpollLoopTest, AWatchThatTheSystemRefusesIsReported) {
  EXPECT_FALSE(loop_->Watch(-1, *this, {.reading = true}));
  EXPECT_EQ(errno, EBADF);
}

// Nothing but the tasks wakes the loop: its clock stands still, and no timer is set.
TEST_F(EpollLoopTest, OtherThreadsWakeIt) {
  std::thread thread([this] { loop_->Run(); });
  std::atomic<int> ran{0};
  std::vector<std::unique_ptr<Step>> steps;  // a step may still be running when it has been seen
  for (int i = 0; i < 100; ++i) {
    steps.push_back(std::make_unique<Step>([&] {
      ++ran;
      ran.notify_one();
    }));
    loop_->Post(*steps.back(), nullptr);
    ran.wait(i);
  }
  Step stop([this] { loop_->Stop(); });
  loop_->Post(stop, nullptr);
  thread.join();
}

// A system call for each request would be dear.
TEST_F(EpollLoopTest, ATaskThatIsPostedWhileItDoesNotWaitWakesNobody) {
  Step stop([this] { loop_->Stop(); });
  on_ready_ = [&] { loop_->Post(stop, nullptr); };
  ASSERT_TRUE(loop_->Watch(pair_[0], *this, {.writing = true}));
  std::thread([this] { loop_->Run(); }).join();
  pollfd state{loop_->inbox()->wake_descriptor(), POLLIN, 0};
  EXPECT_EQ(poll(&state, 1, 0), 0);
}

TEST(EpollLoop, WaitsForATimer) {
  const auto loop = EpollLoop::Make().value();
  Alarm alarm([&] { loop->Stop(); });
  const uint64_t deadline_ns = loop->NowNs() + 3 * kMs / 2;
  loop->SetTimer(alarm, deadline_ns);
  std::thread([&] { loop->Run(); }).join();
  EXPECT_GE(loop->NowNs(), deadline_ns);
  EXPECT_LE(loop->RoughNowNs(), loop->NowNs());
}

}  // namespace
}  // namespace nereid::frontend::net
