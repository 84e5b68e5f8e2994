// SPDX-License-Identifier: Apache-2.0
#include "base/mutex.h"

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <thread>

namespace nereid::base {
namespace {

/// Returns whether another thread could take `mutex` now.
bool IsFree(Mutex& mutex) {
  bool taken = false;
  std::thread([&]() {
    if (mutex.TryLock()) {
      taken = true;
      mutex.Unlock();
    }
  }).join();
  return taken;
}

TEST(MutexTest, ALockHoldsExceptBetweenUnlockAndLock) {
  Mutex mutex;
  {
    MutexLock lock(mutex);
    EXPECT_FALSE(IsFree(mutex));
    lock.Unlock();
    EXPECT_TRUE(IsFree(mutex));
    lock.Lock();
    EXPECT_FALSE(IsFree(mutex));
  }
  EXPECT_TRUE(IsFree(mutex));
}

TEST(MutexTest, ALockThatWasReleasedEarlyIsNotReleasedAgain) {
  Mutex mutex;
  {
    MutexLock lock(mutex);
    lock.Unlock();
  }
  EXPECT_TRUE(IsFree(mutex));
}

TEST(MutexTest, AnUnlockedScopeTakesTheMutexAgainEvenAfterAnException) {
  Mutex mutex;
  MutexLock lock(mutex);
  try {
    MutexUnlock unlocked(mutex);
    EXPECT_TRUE(IsFree(mutex));
    throw std::runtime_error("");
  } catch (const std::runtime_error&) {
    EXPECT_FALSE(IsFree(mutex));
  }
}

TEST(MutexTest, AWaitReleasesTheMutexAndReturnsWithIt) {
  Mutex mutex;
  ConditionVariable changed;
  bool ready = false;
  MutexLock lock(mutex);
  std::thread notifier([&] {
    const MutexLock inner(mutex);
    ready = true;
    changed.NotifyAll();
  });
  while (!ready) changed.Wait(lock);
  EXPECT_FALSE(IsFree(mutex));
  lock.Unlock();
  notifier.join();
}

TEST(MutexTest, ATimedWaitSaysThatTheTimeHasPassed) {
  Mutex mutex;
  ConditionVariable changed;
  MutexLock lock(mutex);
  EXPECT_FALSE(changed.WaitUntil(lock, std::chrono::steady_clock::now()));
  EXPECT_FALSE(changed.WaitFor(lock, std::chrono::nanoseconds(0)));
}

}  // namespace
}  // namespace nereid::base
