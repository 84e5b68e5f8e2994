// SPDX-License-Identifier: Apache-2.0
#include "base/threads.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <future>

#include "base/blocking_workers.h"
#include "base/thread_shortage.h"
#include "base/timer_queue.h"

namespace nereid::base {
namespace {

TEST(ThreadsTest, ThreadsThatCannotBeMadeAreAStatus) {
  bool ran = false;
  {
    const ThreadShortage shortage(1);
    auto first = StartThread("first", [] {});
    ASSERT_TRUE(first.ok());
    first->join();
    const auto second = StartThread("second", [&] { ran = true; });
    EXPECT_EQ(second.status().code(), StatusCode::kUnavailable);
    EXPECT_EQ(second.status().message().find("cannot start the thread 'second': "), 0u);
  }
  EXPECT_FALSE(ran);
  auto third = StartThread("third", [&] { ran = true; });
  ASSERT_TRUE(third.ok());
  third->join();
  EXPECT_TRUE(ran);
}

TEST(ThreadsTest, WorkersRefuseATaskThatNobodyWouldDo) {
  BlockingWorkers workers("test", 2);
  const ThreadShortage shortage(0);
  EXPECT_FALSE(workers.Run([] { FAIL(); }));
}

TEST(ThreadsTest, WorkersThatAreThereDoTheRest) {
  BlockingWorkers workers("test", 4);
  const ThreadShortage shortage(1);
  std::promise<void> go;
  std::atomic<int> done{0};
  ASSERT_TRUE(workers.Run([&] {
    go.get_future().wait();
    ++done;
  }));
  std::promise<void> last;
  ASSERT_TRUE(workers.Run([&] { ++done; }));
  ASSERT_TRUE(workers.Run([&] { last.set_value(); }));
  go.set_value();
  last.get_future().wait();
  EXPECT_EQ(done.load(), 2);
}

TEST(ThreadsTest, TimersWithoutAThreadSayAtTheStartAndFireLater) {
  ThreadTimerQueue timers;
  std::promise<void> first, second;
  {
    const ThreadShortage shortage(0);
    EXPECT_EQ(timers.Start().code(), StatusCode::kUnavailable);
    timers.Schedule(0, [&] { first.set_value(); });
  }
  timers.Schedule(0, [&] { second.set_value(); });
  first.get_future().wait();
  second.get_future().wait();
  EXPECT_TRUE(timers.Start().ok()) << "it runs already";
}

TEST(ThreadsTest, OnlyTheThreadThatGivesWayIsNicer) {
  const int before = getpriority(PRIO_PROCESS, 0);
  int own = 0;
  auto thread = StartThread("gives way", [&] {
    GiveWayToOtherThreads();
    own = getpriority(PRIO_PROCESS, static_cast<id_t>(gettid()));
  });
  ASSERT_TRUE(thread.ok());
  thread->join();
  EXPECT_EQ(own, std::min(before + 10, 19));
  EXPECT_EQ(getpriority(PRIO_PROCESS, 0), before);
}

}  // namespace
}  // namespace nereid::base
