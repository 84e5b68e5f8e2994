// SPDX-License-Identifier: Apache-2.0
#include "schedule/instance_scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "request/testing/make_model.h"
#include "request/testing/recording_sink.h"
#include "schedule/direct/direct_planner.h"
#include "schedule/dynamic/dynamic_planner.h"

namespace nereid::schedule {
namespace {

/// Records the sizes of its batches and the threads they ran on; can be told to hold a batch.
class FakeRunner : public BatchRunner {
 public:
  void Run(Batch batch) noexcept override {
    std::unique_lock lock(mutex_);
    sizes_.push_back(batch.requests.size());
    threads_.push_back(std::this_thread::get_id());
    changed_.notify_all();
    changed_.wait(lock, [this] { return !hold_; });
    lock.unlock();
    for (auto& request : batch.requests) {
      request::RefuseRequest(std::move(request), base::Status::Internal("fake"));
    }
  }
  void Hold(bool hold) {
    std::lock_guard lock(mutex_);
    hold_ = hold;
    changed_.notify_all();
  }
  std::vector<size_t> WaitForBatches(size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return sizes_.size() >= count; });
    return sizes_;
  }
  std::vector<std::thread::id> threads() {
    std::lock_guard lock(mutex_);
    return threads_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<size_t> sizes_;
  std::vector<std::thread::id> threads_;
  bool hold_ = false;
};

class FakeObserver : public SchedulerObserver {
 public:
  void OnRefused(const request::InferenceRequest& /*request*/,
                 telemetry::FailureReason /*reason*/) override {}
  void OnBatchClosed(BatchReason /*reason*/, uint64_t /*requests*/,
                     uint64_t /*batch_size*/) override {}
};

class InstanceSchedulerTest : public ::testing::Test {
 protected:
  void TearDown() override {
    scheduler_.reset();
    sink_->Clear();
  }

  void Start(const std::string& batching, InlineMode mode = InlineMode::kNever) {
    model_ = request::MakeModel("name: \"m\" max_batch_size: 8 " + batching);
    std::unique_ptr<BatchPlanner> planner;
    if (model_->config->dynamic_batching()) {
      planner = std::make_unique<DynamicPlanner>(*model_->config);
    } else {
      planner = std::make_unique<DirectPlanner>();
    }
    scheduler_ = std::make_unique<InstanceScheduler>(
        "m", std::move(planner), nullptr, std::vector<SchedulerInstance>{{"m_0", &runner_}},
        SchedulerEnvironment{clock_, timers_, observer_, mode});
  }
  base::Status Enqueue(bool may_run_inline = false) {
    auto request = std::make_unique<request::InferenceRequest>();
    request->batch_size = 1;
    request->may_run_inline = may_run_inline;
    request->SetSink(sink_);
    request->Bind(model_);
    const base::Status status = scheduler_->Enqueue(request);
    if (!status.ok()) request->response_factory()->Disarm();
    return status;
  }

  base::FakeClock clock_;
  base::ManualTimerQueue timers_{clock_};
  FakeRunner runner_;
  FakeObserver observer_;
  std::shared_ptr<request::RecordingSink> sink_ = std::make_shared<request::RecordingSink>();
  std::shared_ptr<const request::ModelIdentity> model_;
  std::unique_ptr<InstanceScheduler> scheduler_;
};

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
