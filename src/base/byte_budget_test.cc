// SPDX-License-Identifier: Apache-2.0
#include "base/byte_budget.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/slow_reader_budget.h"

namespace nereid::base {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kNoPatience{0};
constexpr milliseconds kLongPatience{60'000};  // never waited for

std::shared_ptr<ByteBudget> Make(size_t limit, milliseconds patience = kNoPatience) {
  return std::make_shared<ByteBudget>(limit, patience);
}

TEST(ByteBudgetTest, RefusesWhatIsTooMuchUntilSomeIsGivenBack) {
  const auto budget = Make(100);
  ByteShare a, b, c;
  EXPECT_TRUE(budget->Take(60, true, &a));
  EXPECT_TRUE(budget->IsHalfSpent());
  EXPECT_TRUE(budget->Take(40, true, &b));
  EXPECT_FALSE(budget->Take(1, true, &c));
  b = {};
  EXPECT_TRUE(budget->Take(1, true, &c));
  a = {};
  c = {};
  EXPECT_FALSE(budget->IsHalfSpent());
}

TEST(ByteBudgetTest, AnythingGoesAlone) {
  const auto budget = Make(10);
  ByteShare large, small;
  EXPECT_TRUE(budget->Take(1000, true, &large));
  EXPECT_FALSE(budget->Take(1, true, &small));
  large = {};
  EXPECT_TRUE(budget->Take(1, true, &small));
}

TEST(ByteBudgetTest, AShareGrowsWhileThereIsRoom) {
  const auto budget = Make(100);
  ByteShare a, b;
  ASSERT_TRUE(budget->Take(30, false, &a));
  EXPECT_TRUE(a.Grow(500));  // alone
  EXPECT_EQ(a.size(), 530u);
  a = {};
  ASSERT_TRUE(budget->Take(30, false, &a));
  ASSERT_TRUE(budget->Take(30, false, &b));
  EXPECT_FALSE(a.Grow(41));
  EXPECT_EQ(a.size(), 30u);
  EXPECT_TRUE(a.Grow(40));
  a = {};
  EXPECT_TRUE(b.Grow(70));
  ByteShare without_budget;
  EXPECT_TRUE(without_budget.Grow(1000));
}

TEST(ByteBudgetTest, ForcedBytesCount) {
  const auto budget = Make(10);
  const ByteShare forced = budget->Force(50);
  ByteShare share;
  EXPECT_FALSE(budget->Take(1, true, &share));
  ByteShare moved = budget->Force(1);
  moved = ByteShare();
  EXPECT_TRUE(budget->IsHalfSpent());
}

TEST(ByteBudgetTest, AWriterWaitsForTheReader) {
  const auto budget = Make(10, kLongPatience);
  ByteShare first;
  ASSERT_TRUE(budget->Take(10, true, &first));
  std::thread writer([&] {
    ByteShare share;
    EXPECT_TRUE(budget->Take(5, true, &share));
  });
  first = {};
  writer.join();
}

TEST(ByteBudgetTest, ClosingWakesTheWriter) {
  const auto budget = Make(10, kLongPatience);
  ByteShare first;
  ASSERT_TRUE(budget->Take(10, true, &first));
  std::thread writer([&] {
    ByteShare share;
    EXPECT_FALSE(budget->Take(5, true, &share));
  });
  budget->Close();
  writer.join();
  first = {};
  EXPECT_FALSE(budget->Take(1, true, &first));
}

TEST(ByteBudgetTest, SomeThreadsNeverWait) {
  const auto budget = Make(10, kLongPatience);
  ByteShare first, second;
  ASSERT_TRUE(budget->Take(10, true, &first));
  EXPECT_FALSE(budget->Take(1, /*may_wait=*/false, &second));
  std::thread([&] {
    EXPECT_TRUE(ThreadMayBlock());
    ForbidBlocking();
    EXPECT_FALSE(ThreadMayBlock());
    EXPECT_FALSE(budget->Take(1, /*may_wait=*/true, &second));
  }).join();
  EXPECT_TRUE(ThreadMayBlock());
}

TEST(ByteBudgetTest, ManyWritersAndOneReader) {
  constexpr int kWriters = 4, kEach = 2000;
  const auto budget = Make(64, kLongPatience);
  Mutex mutex;
  std::vector<ByteShare> waiting;
  std::atomic<int> written{0};
  std::vector<std::thread> writers;
  for (int i = 0; i < kWriters; ++i) {
    writers.emplace_back([&, i] {
      for (int k = 0; k < kEach; ++k) {
        ByteShare share;
        EXPECT_TRUE(budget->Take(static_cast<size_t>(1 + (i * 7 + k) % 40), true, &share));
        ++written;
        const MutexLock lock(mutex);
        waiting.push_back(std::move(share));
      }
    });
  }
  while (written < kWriters * kEach) {
    std::vector<ByteShare> read;
    {
      const MutexLock lock(mutex);
      read.swap(waiting);
    }
    std::this_thread::yield();
  }
  for (std::thread& writer : writers) writer.join();
  waiting.clear();
  ByteShare all;
  EXPECT_TRUE(budget->Take(64, false, &all));  // nothing was lost
}

TEST(SlowReaderBudget, IsSharedByReadersThatDoNotRead) {
  using std::chrono::seconds;
  constexpr SlowReaderBudget::Clock::duration kMaxWait = seconds(5);
  SlowReaderBudget slow_readers;
  SlowReaderBudget::Clock::time_point now{std::chrono::hours(1)};
  SlowReaderBudget::Clock::duration held{0};
  for (int i = 0; i < 10; ++i) {
    const auto left = slow_readers.Remaining(now, kMaxWait);
    EXPECT_EQ(left, i == 0 ? kMaxWait : kMaxWait / 50) << i;
    now += left;
    held += left;
    slow_readers.Charge(now, left, /*made_room=*/false);
  }
  EXPECT_LT(held, seconds(6));
  EXPECT_LE(slow_readers.Remaining(now + seconds(10), kMaxWait), seconds(1));
  EXPECT_EQ(slow_readers.Remaining(now + seconds(100), kMaxWait), kMaxWait);
}

TEST(SlowReaderBudget, IsNotChargedForSlowReadersThatRead) {
  using std::chrono::milliseconds;
  SlowReaderBudget slow_readers;
  SlowReaderBudget::Clock::time_point now{std::chrono::hours(1)};
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(slow_readers.Remaining(now, milliseconds(5000)), milliseconds(5000));
    now += milliseconds(900);
    slow_readers.Charge(now, milliseconds(900), /*made_room=*/true);
  }
  now += milliseconds(4000);
  slow_readers.Charge(now, milliseconds(4000), /*made_room=*/true);
  EXPECT_EQ(slow_readers.Remaining(now, milliseconds(5000)), milliseconds(2000));
}

}  // namespace
}  // namespace nereid::base
