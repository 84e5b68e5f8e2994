// SPDX-License-Identifier: Apache-2.0
#include "base/blocking_workers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <set>
#include <thread>

#include "base/background.h"
#include "base/mutex.h"

namespace nereid::base {
namespace {

TEST(BlockingWorkersTest, RunsTasksAtOnceUpToTheLimit) {
  std::promise<void> go;
  const std::shared_future<void> may_go = go.get_future().share();
  std::promise<void> both_run;
  std::atomic<int> running = 0;
  std::atomic<int> done = 0;
  {
    BlockingWorkers workers("test", 2);
    for (int i = 0; i < 5; ++i) {
      EXPECT_TRUE(workers.Run([&, may_go] {
        const int now = ++running;
        EXPECT_LE(now, 2);
        if (now == 2 && done == 0) both_run.set_value();
        may_go.wait();
        ++done;
        --running;
      }));
      if (i == 1) both_run.get_future().wait();  // the first does not keep the second waiting
    }
    EXPECT_EQ(done, 0);
    go.set_value();
  }
  EXPECT_EQ(done, 5);  // the destructor waited for all
}

TEST(BlockingWorkersTest, ThreadsForLoadsWorkInTheBackground) {
  const auto own = ReadScheduling();
  if (!own || own->runtime == 0) GTEST_SKIP() << "the kernel has no slices of threads";
  if (!WithSlice(*own, 1)) GTEST_SKIP() << "the tests run with a priority of their own";
  const auto slice_in = [](PoolWork work) {
    std::promise<uint64_t> slice;
    BlockingWorkers workers("test", 1, 1, work);
    workers.Run([&] { slice.set_value(ReadScheduling()->runtime); });
    return slice.get_future().get();
  };
  EXPECT_EQ(slice_in(PoolWork::kMayWait), own->runtime);
  EXPECT_GT(slice_in(PoolWork::kInBackground), own->runtime);
}

TEST(BlockingWorkersTest, UsesIdleThreadsAgain) {
  Mutex mutex;
  std::set<std::thread::id> ids;
  BlockingWorkers workers("test", 3);
  for (int i = 0; i < 50; ++i) {
    const auto done = std::make_shared<std::promise<void>>();
    workers.Run([&, done] {
      const MutexLock lock(mutex);
      ids.insert(std::this_thread::get_id());
      done->set_value();
    });
    done->get_future().wait();
  }
  workers.Stop();
  EXPECT_LE(ids.size(), 3u);
  EXPECT_EQ(ids.count(std::this_thread::get_id()), 0u);
}

TEST(BlockingWorkersTest, StopDropsWhatHasNotBegunAndWaitsForTheRest) {
  BlockingWorkers workers("test", 1);
  std::promise<void> begun;
  std::promise<void> go;
  std::atomic<bool> finished = false;
  workers.Run([&] {
    begun.set_value();
    go.get_future().wait();
    finished = true;
  });
  begun.get_future().wait();
  std::atomic<bool> second_ran = false;
  auto owned = std::make_shared<int>(0);
  const std::weak_ptr<int> watched = owned;
  workers.Run([&second_ran, owned = std::move(owned)] { second_ran = true; });
  std::thread stopper([&] { workers.Stop(); });
  while (workers.Run([] {})) std::this_thread::yield();  // until Stop() has dropped what waits
  go.set_value();
  stopper.join();
  EXPECT_TRUE(finished);
  EXPECT_FALSE(second_ran);
  EXPECT_TRUE(watched.expired());
  EXPECT_FALSE(workers.Run([] {}));
}

TEST(BlockingWorkersTest, AnAbandonedTaskThatWaitsIsDropped) {
  BlockingWorkers workers("test", 1, 2);
  std::promise<void> begun;
  std::promise<void> go;
  const auto gone = [] { return true; };
  std::atomic<int> dropped = 0;
  std::atomic<int> ran = 0;
  const BlockingWorkers::Task abandoned{[&] { ++ran; }, gone, [&] { ++dropped; }};
  // It begins at once: nobody asks whether it is wanted.
  EXPECT_TRUE(workers.Run({[&] {
                             begun.set_value();
                             go.get_future().wait();
                           },
                           gone, [&] { ++dropped; }}));
  begun.get_future().wait();
  EXPECT_TRUE(workers.Run(abandoned));
  EXPECT_EQ(dropped, 0);
  EXPECT_TRUE(workers.Run([&] { ++ran; })) << "what is abandoned takes no place";
  EXPECT_EQ(dropped, 1);
  EXPECT_TRUE(workers.Run([&] { ++ran; }));
  EXPECT_FALSE(workers.Run([&] { ++ran; })) << "two wait already";
  std::promise<void> asked;
  go.set_value();
  while (!workers.Run([&] { asked.set_value(); })) std::this_thread::yield();
  asked.get_future().wait();
  EXPECT_EQ(dropped, 1);
  EXPECT_EQ(ran, 2);
}

TEST(BlockingWorkersTest, AFewTasksAreAskedForEachThatIsAdded) {
  constexpr size_t kTasks = 2000;
  std::promise<void> go;
  std::atomic<size_t> asked = 0;
  const auto stays = [&] { return ++asked == 0; };
  BlockingWorkers workers("test", 1);  // last: its thread uses the others
  workers.Run([&] { go.get_future().wait(); });
  for (size_t i = 0; i < kTasks; ++i) EXPECT_TRUE(workers.Run({[] {}, stays, [] {}}));
  EXPECT_GT(asked, kTasks);
  EXPECT_LT(asked, kTasks * 10);
  go.set_value();
}

TEST(BlockingWorkersTest, AThreadDropsWhatWasAbandonedMeanwhile) {
  BlockingWorkers workers("test", 1);
  std::promise<void> go;
  std::promise<void> dropped;
  std::atomic<bool> is_gone = false;
  workers.Run([&] { go.get_future().wait(); });
  workers.Run(
      {[] { ADD_FAILURE(); }, [&] { return is_gone.load(); }, [&] { dropped.set_value(); }});
  is_gone = true;
  go.set_value();
  dropped.get_future().wait();
}

TEST(BlockingWorkersTest, ATaskMayRunAnotherEvenWhenItIsDestroyed) {
  std::promise<void> nested;
  std::promise<void> at_destruction;
  BlockingWorkers workers("test", 1);
  std::shared_ptr<void> owned(
      &workers, [&](void*) { workers.Run([&at_destruction] { at_destruction.set_value(); }); });
  workers.Run([&workers, &nested, owned = std::move(owned)] {
    workers.Run([&nested] { nested.set_value(); });
  });
  nested.get_future().wait();
  at_destruction.get_future().wait();
}

}  // namespace
}  // namespace nereid::base
