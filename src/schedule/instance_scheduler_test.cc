// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <future>

#include "schedule/inline_policy.h"
#include "schedule/testing/scheduler_fixture.h"

namespace nereid::schedule {
namespace {

class InstanceSchedulerTest : public SchedulerFixture {};

TEST_F(InstanceSchedulerTest, DirectRunsEachRequestAlone) {
  Start("");
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(Enqueue().ok());
  sink_->WaitUntilDone(3);
  EXPECT_EQ(runner_.WaitForBatches(3), (std::vector<size_t>{1, 1, 1}));
}

TEST_F(InstanceSchedulerTest, ABusyInstanceCollectsABatch) {
  Start("dynamic_batching { }");
  runner_.Hold(true);
  ASSERT_TRUE(Enqueue().ok());
  runner_.WaitForBatches(1);
  for (int i = 0; i < 8; ++i) ASSERT_TRUE(Enqueue().ok());
  EXPECT_EQ(scheduler_->PendingCount(), 8u);
  runner_.Hold(false);
  sink_->WaitUntilDone(9);
  EXPECT_EQ(runner_.WaitForBatches(2), (std::vector<size_t>{1, 8}));
}

TEST_F(InstanceSchedulerTest, TheTimerEndsTheDelay) {
  Start("dynamic_batching { max_queue_delay_microseconds: 100 }");
  ASSERT_TRUE(Enqueue().ok());
  ASSERT_TRUE(Enqueue().ok());
  EXPECT_EQ(scheduler_->PendingCount(), 2u);
  EXPECT_EQ(timers_.size(), 1u);
  clock_.Advance(100'000);
  EXPECT_EQ(timers_.RunDue(), 1);
  sink_->WaitUntilDone(2);
  EXPECT_EQ(runner_.WaitForBatches(1), (std::vector<size_t>{2}));
}

TEST_F(InstanceSchedulerTest, NothingIsAcceptedAfterTheStop) {
  Start("");
  scheduler_->StopAccepting();
  const base::Status status = Enqueue();
  EXPECT_EQ(status.code(), base::StatusCode::kUnavailable);
  EXPECT_THAT(status.message(), ::testing::HasSubstr("has stopped accepting"));
}

TEST_F(InstanceSchedulerTest, TheDestructorServesWhatIsQueued) {
  Start("");
  runner_.Hold(true);
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(Enqueue().ok());
  runner_.WaitForBatches(1);
  auto destroyed = std::async(std::launch::async, [this] { scheduler_.reset(); });
  runner_.Hold(false);
  destroyed.get();
  EXPECT_EQ(sink_->finals(), 4u);
}

TEST_F(InstanceSchedulerTest, InlineRequestsRunWhereTheyArrive) {
  Start("", InlineMode::kAlways);
  ASSERT_TRUE(Enqueue(true).ok());
  ASSERT_TRUE(Enqueue(false).ok());
  sink_->WaitUntilDone(2);
  runner_.WaitForBatches(2);
  EXPECT_EQ(runner_.threads()[0], std::this_thread::get_id());
  EXPECT_NE(runner_.threads()[1], std::this_thread::get_id());
}

TEST_F(InstanceSchedulerTest, ManyThreadsLoseNothing) {
  Start("dynamic_batching { }", InlineMode::kAlways);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) EXPECT_TRUE(Enqueue(t % 2 == 0).ok());
    });
  }
  for (auto& thread : threads) thread.join();
  sink_->WaitUntilDone(800);
  EXPECT_EQ(scheduler_->PendingCount(), 0u);
}

TEST(InlinePolicyTest, LearnsFromWhatExecutionsTake) {
  InlinePolicy policy(InlineMode::kAuto);
  EXPECT_FALSE(policy.RunInline());
  for (uint32_t i = 0; i < InlinePolicy::kMinimumSamples; ++i) policy.Record(5'000);
  EXPECT_TRUE(policy.RunInline());
  policy.Record(1'000'000'000);
  EXPECT_FALSE(policy.RunInline());
  int cheap_until_back = 0;
  while (!policy.RunInline()) {
    policy.Record(5'000);
    ASSERT_LT(++cheap_until_back, 1000);
  }
  EXPECT_GT(cheap_until_back, 20);
}

}  // namespace
}  // namespace nereid::schedule
