// SPDX-License-Identifier: Apache-2.0
#include "repository/requests/call_threads.h"

#include <gtest/gtest.h>

#include <future>
#include <thread>
#include <utility>

namespace nereid::repository {
namespace {

/// Runs a call that returns the id of its thread, and keeps the thread.
std::thread::id RunAndKeep(CallThreads& threads) {
  std::promise<std::thread::id> id;
  auto thread = threads.Run([&id] { id.set_value(std::this_thread::get_id()); });
  EXPECT_TRUE(thread.ok());
  const std::thread::id result = id.get_future().get();
  threads.Keep(std::move(thread).value());
  return result;
}

TEST(CallThreadsTest, CallsThatFollowEachOtherShareAThread) {
  CallThreads threads;
  const std::thread::id first = RunAndKeep(threads);
  EXPECT_NE(first, std::this_thread::get_id());
  EXPECT_EQ(RunAndKeep(threads), first);
}

TEST(CallThreadsTest, CallsAtTheSameTimeDoNotShareAThread) {
  CallThreads threads;
  std::promise<void> go;
  auto busy = threads.Run([future = go.get_future().share()] { future.wait(); });
  ASSERT_TRUE(busy.ok());
  RunAndKeep(threads);  // would wait for ever on the thread that is busy
  go.set_value();
  threads.Keep(std::move(busy).value());
}

TEST(CallThreadsTest, AThreadThatIsLeftBehindEndsItsCall) {
  std::promise<void> go;
  std::promise<void> done;
  {
    CallThreads threads;
    auto left = threads.Run([future = go.get_future().share(), &done] {
      future.wait();
      done.set_value();
    });
    ASSERT_TRUE(left.ok());
    CallThread::Leave(std::move(left).value());
    RunAndKeep(threads);
  }
  go.set_value();
  done.get_future().wait();
}

}  // namespace
}  // namespace nereid::repository
