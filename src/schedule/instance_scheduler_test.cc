// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <future>
#include <thread>
#include <vector>

#include "request/binding.h"
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

TEST_F(InstanceSchedulerTest, RequestsForWhichThereIsNoRoomRunOnTheInstancesThread) {
  Start("", InlineMode::kAlways);
  runner_.SetHasRoom(false);
  ASSERT_TRUE(Enqueue(true).ok());
  sink_->WaitUntilDone(1);
  runner_.WaitForBatches(1);
  EXPECT_NE(runner_.threads()[0], std::this_thread::get_id());
}

TEST_F(InstanceSchedulerTest, RequestsWithGpuMemoryNeverRunWhereTheyArrive) {
  Start("", InlineMode::kAlways);
  auto request = std::make_unique<request::InferenceRequest>();
  request->may_run_inline = true;
  request->has_gpu_memory = true;
  request->SetSink(sink_);
  request::BindRequest(*request, model_);
  ASSERT_TRUE(scheduler_->Enqueue(request).ok());
  sink_->WaitUntilDone();
  runner_.WaitForBatches(1);
  EXPECT_NE(runner_.threads()[0], std::this_thread::get_id());
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

/// Takes as long as the test says, by the clock of the test.
class SlowRunner final : public BatchRunner {
 public:
  explicit SlowRunner(base::FakeClock& clock) : clock_(clock) {}
  void Run(Batch batch) noexcept override {
    clock_.Advance(takes_ns);
    threads.push_back(std::this_thread::get_id());
    for (auto& request : batch.requests) {
      request::RefuseRequest(std::move(request), base::Status::Internal("fake"));
    }
  }
  uint64_t takes_ns = 1'000;
  std::vector<std::thread::id> threads;

 private:
  base::FakeClock& clock_;
};

TEST_F(InstanceSchedulerTest, AnOverrunSendsTheNextRequestsToTheInstancesThread) {
  SlowRunner runner(clock_);
  model_ = request::MakeModel("name: \"m\"");
  scheduler_ = MakeScheduler(*model_->config, {{"m_0", &runner}},
                             SchedulerEnvironment{clock_, timers_, observer_, InlineMode::kAuto})
                   .value();
  const auto send_one = [&] {
    const size_t before = sink_->finals();
    ASSERT_TRUE(Enqueue(true).ok());
    sink_->WaitUntilDone(before + 1);
    while (scheduler_->PendingCount() > 0) std::this_thread::yield();
  };
  do {
    send_one();
  } while (runner.threads.back() != std::this_thread::get_id());
  EXPECT_GT(runner.threads.size(), InlinePolicy::kMinSamples);
  runner.takes_ns = 1'900'000'000;
  send_one();
  EXPECT_EQ(runner.threads.back(), std::this_thread::get_id()) << "nobody could know";
  runner.takes_ns = 1'000;
  for (int i = 0; i < 100; ++i) {
    send_one();
    EXPECT_NE(runner.threads.back(), std::this_thread::get_id());
  }
  scheduler_.reset();
}

/// While it runs its first batch, another thread enqueues requests.
class InterruptedRunner final : public BatchRunner {
 public:
  explicit InterruptedRunner(std::function<void()> enqueue) : enqueue_(std::move(enqueue)) {}
  void Run(Batch batch) noexcept override {
    threads.push_back(std::this_thread::get_id());
    if (threads.size() == 1) std::thread(enqueue_).join();
    for (auto& request : batch.requests) {
      request::RefuseRequest(std::move(request), base::Status::Internal("fake"));
    }
  }
  std::vector<std::thread::id> threads;

 private:
  const std::function<void()> enqueue_;
};

TEST_F(InstanceSchedulerTest, AFewRequestsThatWereEnqueuedMeanwhileRunInlineToo) {
  constexpr size_t kOthers = 6;
  for (const bool may_run_inline : {true, false}) {
    InterruptedRunner runner([&] {
      for (size_t i = 0; i < kOthers; ++i) EXPECT_TRUE(Enqueue(may_run_inline).ok());
    });
    model_ = request::MakeModel("name: \"m\"");
    scheduler_ =
        MakeScheduler(*model_->config, {{"m_0", &runner}},
                      SchedulerEnvironment{clock_, timers_, observer_, InlineMode::kAlways})
            .value();
    const size_t before = sink_->finals();
    ASSERT_TRUE(Enqueue(true).ok());
    sink_->WaitUntilDone(before + 1 + kOthers);
    scheduler_.reset();
    const auto here =
        std::count(runner.threads.begin(), runner.threads.end(), std::this_thread::get_id());
    EXPECT_EQ(here, may_run_inline ? 4 : 1);
    EXPECT_EQ(runner.threads.size(), 1 + kOthers);
  }
}

}  // namespace
}  // namespace nereid::schedule
