// SPDX-License-Identifier: Apache-2.0
// What happens to requests that wait, and to instances that come, go or get stuck.
#include <gmock/gmock.h>

#include <future>

#include "base/thread_shortage.h"
#include "request/binding.h"
#include "schedule/response_order.h"
#include "schedule/testing/scheduler_fixture.h"

namespace nereid::schedule {
namespace {

using telemetry::FailureReason;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

constexpr uint64_t kMs = 1'000'000;

class SchedulerEventsTest : public SchedulerFixture {
 protected:
  std::vector<std::string> Errors() const {
    std::vector<std::string> messages;
    for (const base::Status& error : sink_->errors()) messages.push_back(error.message());
    return messages;
  }
};

TEST_F(SchedulerEventsTest, ATimeoutIsAnsweredWhileEveryInstanceIsBusy) {
  Start("dynamic_batching { default_queue_policy { default_timeout_microseconds: 100000 } }");
  Occupy();
  ASSERT_TRUE(Submit("late").ok());
  clock_.Advance(100 * kMs - 1);
  timers_.RunDue();
  EXPECT_EQ(sink_->finals(), 0u);
  clock_.Advance(1);
  EXPECT_EQ(timers_.RunDue(), 1);
  EXPECT_THAT(Errors(), ElementsAre("Request timeout expired"));
  EXPECT_EQ(sink_->released(), 1u);
  EXPECT_THAT(observer_.refused(), ElementsAre(Pair("late", FailureReason::kRejected)));
  EXPECT_EQ(scheduler_->PendingCount(), 0u);
}

TEST_F(SchedulerEventsTest, TheDefaultSchedulerKeepsDeadlinesToo) {
  Start("");
  Occupy();
  ASSERT_TRUE(Submit("late", clock_.NowNs() + 5 * kMs).ok());
  ASSERT_TRUE(Submit("patient").ok());
  clock_.Advance(5 * kMs);
  EXPECT_EQ(timers_.RunDue(), 1);
  EXPECT_THAT(Errors(), ElementsAre(HasSubstr("deadline expired")));
  runner_.Hold(false);
  sink_->WaitUntilDone(3);
  EXPECT_THAT(runner_.ids(), ElementsAre("busy", "patient"));
}

TEST_F(SchedulerEventsTest, WhatComesTooLateIsAcceptedAndRefused) {
  Start("", InlineMode::kAlways);
  ASSERT_TRUE(Submit("past", clock_.NowNs() - 1, true).ok());
  EXPECT_EQ(sink_->finals(), 1u);
  EXPECT_THAT(runner_.ids(), ElementsAre());
}

TEST_F(SchedulerEventsTest, ACancelledRequestIsAnsweredWhileItWaits) {
  for (const char* batching : {"", "dynamic_batching { }"}) {
    Start(batching);
    sink_ = std::make_shared<request::RecordingSink>();
    Occupy();
    for (const char* id : {"a", "b", "c"}) ASSERT_TRUE(Submit(id).ok());
    cancellations_["a"]->Cancel();
    cancellations_["c"]->Cancel();
    EXPECT_EQ(sink_->finals(), 0u);  // not on the thread that cancels
    EXPECT_EQ(timers_.size(), 1u);   // one look at the queue for both
    timers_.RunDue();
    EXPECT_EQ(sink_->finals(), 2u);
    EXPECT_EQ(sink_->errors()[0].code(), base::StatusCode::kCancelled);
    EXPECT_EQ(scheduler_->PendingCount(), 1u);
    cancellations_["b"]->Cancel();
    EXPECT_EQ(timers_.RunDue(), 0);  // looked a moment ago: the next look waits a little
    clock_.Advance(kMs);
    EXPECT_EQ(timers_.RunDue(), 1);
    EXPECT_EQ(scheduler_->PendingCount(), 0u);
    runner_.Hold(false);
    sink_->WaitUntilDone(4);
    sink_->Clear();
  }
  EXPECT_THAT(observer_.refused()[0], Pair("a", FailureReason::kCanceled));
}

TEST_F(SchedulerEventsTest, NothingListensToARequestThatHasLeft) {
  Start("");
  Occupy();
  ASSERT_TRUE(Submit("a").ok());
  runner_.Hold(false);
  sink_->WaitUntilDone(2);
  cancellations_["a"]->Cancel();
  cancellations_["busy"]->Cancel();
  EXPECT_EQ(timers_.size(), 0u);
}

TEST_F(SchedulerEventsTest, AFullQueueRefusesAndCountsNothing) {
  Start("dynamic_batching { default_queue_policy { max_queue_size: 1 } }");
  Occupy();
  ASSERT_TRUE(Submit("fits").ok());
  const base::Status status = Submit("7");
  EXPECT_EQ(status.code(), base::StatusCode::kUnavailable);
  EXPECT_EQ(status.message(), "[request id: 7] Exceeds maximum queue size");
  EXPECT_THAT(observer_.refused(), ElementsAre());
}

TEST_F(SchedulerEventsTest, EachBatchIsReportedWithItsReason) {
  Start("dynamic_batching { preferred_batch_size: [ 2 ] max_queue_delay_microseconds: 100 }");
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(Enqueue().ok());
  sink_->WaitUntilDone(2);
  ASSERT_TRUE(Enqueue().ok());
  clock_.Advance(100'000);
  timers_.RunDue();
  sink_->WaitUntilDone(3);
  EXPECT_EQ(observer_.closed(BatchReason::kPreferred), 1);
  EXPECT_EQ(observer_.closed(BatchReason::kDelayExpired), 1);
  EXPECT_EQ(observer_.requests(), 3u);
}

TEST_F(SchedulerEventsTest, OneArrivalMayStartTwoBatches) {
  Start("dynamic_batching { max_queue_delay_microseconds: 1000000 }", InlineMode::kNever, 2);
  runners_[0].Hold(true);
  runners_[1].Hold(true);
  ASSERT_TRUE(Submit("five", 0, false, 5).ok());
  EXPECT_EQ(scheduler_->PendingCount(), 1u);
  // Does not fit beside the five, which therefore go; and is full by itself.
  ASSERT_TRUE(Submit("eight", 0, false, 8).ok());
  EXPECT_EQ(scheduler_->PendingCount(), 0u);
  runners_[0].WaitForBatches(1);
  runners_[1].WaitForBatches(1);
}

TEST_F(SchedulerEventsTest, AnAddedInstanceTakesWhatIsQueued) {
  Start("dynamic_batching { }");
  Occupy();
  ASSERT_TRUE(Submit("queued").ok());
  ASSERT_TRUE(scheduler_->AddInstances({Instance(1)}).ok());
  runners_[1].WaitForBatches(1);
  EXPECT_THAT(runners_[1].ids(), ElementsAre("queued"));
}

TEST_F(SchedulerEventsTest, WithoutThreadsNoInstanceForSequencesIsAdded) {
  Start("sequence_batching { direct { } }");
  {
    const base::ThreadShortage shortage(1);
    const base::Status status = scheduler_->AddInstances({Instance(1), Instance(2)});
    EXPECT_EQ(status.code(), base::StatusCode::kUnavailable);
    EXPECT_THAT(status.message(), HasSubstr("model 'm', instance 2 of 2: cannot start the thread "
                                            "'m_2'"));
  }
  const base::ThreadShortage shortage(0);
  EXPECT_EQ(MakeScheduler(*model_->config, {Instance(1)},
                          SchedulerEnvironment{clock_, timers_, observer_})
                .status()
                .code(),
            base::StatusCode::kUnavailable);
}

TEST_F(SchedulerEventsTest, AnInstanceWithoutWorkHasNoThread) {
  const base::ThreadShortage shortage(0);
  Start("dynamic_batching { }", InlineMode::kNever, 3);
  ASSERT_TRUE(scheduler_->AddInstances({Instance(1)}).ok());
  scheduler_->RemoveInstances({&runners_[0]});
}

TEST_F(SchedulerEventsTest, AThreadThatIsMissingEndsTheRequestsOfOneBatchEach) {
  for (const char* batching : {"", "dynamic_batching { preserve_ordering: true }"}) {
    Start(batching);
    {
      const base::ThreadShortage shortage(0);
      for (int i = 0; i < 3; ++i) ASSERT_TRUE(Submit("7").ok());
      sink_->WaitUntilDone(3);
    }
    EXPECT_EQ(runner_.batches(), 0u);
    for (const base::Status& error : sink_->errors()) {
      EXPECT_EQ(error.code(), base::StatusCode::kUnavailable);
      EXPECT_THAT(error.message(), HasSubstr("[request id: 7] model 'm' has not executed the "
                                             "request: cannot start the thread 'm_"));
    }
    EXPECT_EQ(observer_.refused().back(), std::pair(std::string("7"), FailureReason::kOther));
    // Later there is a thread, and it stays.
    ASSERT_TRUE(Submit("served").ok());
    sink_->WaitUntilDone(4);
    const base::ThreadShortage shortage(0);
    ASSERT_TRUE(Submit("served again").ok());
    sink_->WaitUntilDone(5);
    EXPECT_EQ(runner_.batches(), 2u);
    TearDown();
    sink_ = std::make_shared<request::RecordingSink>();
    runner_.Forget();
  }
}

TEST_F(SchedulerEventsTest, RequestsThatWaitForAThreadThatIsMissingAreAllAnswered) {
  start_ = {20, 0};
  Start("dynamic_batching { }", InlineMode::kNever, 2);
  const base::ThreadShortage shortage(0);
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(Submit("waits").ok());
  clock_.Advance(StartGate::kOpensAfterNs);
  timers_.RunDue();
  sink_->WaitUntilDone(20);
  EXPECT_EQ(runners_[0].batches() + runners_[1].batches(), 0u);
}

TEST_F(SchedulerEventsTest, InstancesThatStartTheirThreadsTakeTheirBatches) {
  Start("dynamic_batching { max_queue_delay_microseconds: 1000000 }", InlineMode::kNever, 2);
  for (FakeRunner* runner : {&runners_[0], &runners_[1]}) runner->Hold(true);
  {
    // One thread is left: the batch of the other instance fails.
    const base::ThreadShortage shortage(1);
    ASSERT_TRUE(Submit("five", 0, false, 5).ok());
    ASSERT_TRUE(Submit("eight", 0, false, 8).ok());
    sink_->WaitUntilDone(1);
  }
  ASSERT_TRUE(Submit("next", 0, false, 8).ok());
  for (FakeRunner* runner : {&runners_[0], &runners_[1]}) runner->Hold(false);
  sink_->WaitUntilDone(3);
}

TEST_F(SchedulerEventsTest, NothingStartsBeforeEnoughIsQueued) {
  start_ = {3, 0};
  Start("dynamic_batching { }");
  for (const char* id : {"a", "b"}) ASSERT_TRUE(Submit(id).ok());
  clock_.Advance(1'000 * kMs);
  timers_.RunDue();
  EXPECT_EQ(scheduler_->PendingCount(), 2u);
  ASSERT_TRUE(Submit("c").ok());
  clock_.Advance(StartGate::kOpensAfterNs);
  timers_.RunDue();
  EXPECT_EQ(runner_.WaitForBatches(1), (std::vector<size_t>{3}));
  sink_->WaitUntilDone(3);
  ASSERT_TRUE(Submit("d").ok());  // once
  sink_->WaitUntilDone(4);
}

TEST_F(SchedulerEventsTest, AModelThatGoesDoesNotWaitForMore) {
  start_ = {3, 0};
  Start("dynamic_batching { }");
  ASSERT_TRUE(Submit("a").ok());
  scheduler_.reset();
  EXPECT_THAT(runner_.ids(), ElementsAre("a"));
}

TEST_F(SchedulerEventsTest, ARemovedInstanceIsDoneWhenTheCallReturns) {
  Start("", InlineMode::kNever, 2);
  Occupy(1);  // the one that became idle last
  auto removal =
      std::async(std::launch::async, [&] { scheduler_->RemoveInstances({&runners_[1]}); });
  // It leaves already, so what comes goes to the other one.
  ASSERT_TRUE(Submit("next").ok());
  sink_->WaitUntilDone(1);
  EXPECT_THAT(runners_[0].ids(), ElementsAre("next"));
  runners_[1].Hold(false);
  removal.get();
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(Submit("more").ok());
  sink_->WaitUntilDone(6);
  EXPECT_THAT(runners_[1].ids(), ElementsAre("busy"));
}

TEST_F(SchedulerEventsTest, WithoutInstancesTheEndAnswersWhatWaits) {
  Start("dynamic_batching { max_queue_delay_microseconds: 1000000 }");
  ASSERT_TRUE(Submit("a").ok());
  scheduler_->RemoveInstances({&runner_});
  EXPECT_EQ(Submit("b").code(), base::StatusCode::kUnavailable);
  EXPECT_EQ(scheduler_->PendingCount(), 1u);
  scheduler_.reset();
  ASSERT_EQ(sink_->finals(), 1u);
  EXPECT_EQ(sink_->errors()[0].code(), base::StatusCode::kUnavailable);
  EXPECT_THAT(sink_->errors()[0].message(), HasSubstr("[request id: a] model 'm' was unloaded"));
}

TEST_F(SchedulerEventsTest, InstancesComeAndGoUnderLoad) {
  Start("dynamic_batching { }", InlineMode::kAlways, 2);
  std::atomic<bool> stop{false};
  std::atomic<size_t> sent{0};
  std::vector<std::thread> clients;
  for (int t = 0; t < 3; ++t) {
    clients.emplace_back([&, t] {
      for (int i = 0; i < 3'000 && !stop.load(); ++i) {
        if (Enqueue(t == 0).ok()) ++sent;
      }
    });
  }
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(scheduler_->AddInstances({Instance(2)}).ok());
    scheduler_->RemoveInstances({&runners_[2]});
  }
  stop = true;
  for (auto& client : clients) client.join();
  sink_->WaitUntilDone(sent.load());
  EXPECT_EQ(sink_->finals(), sent.load());
  EXPECT_EQ(scheduler_->PendingCount(), 0u);
}

TEST_F(SchedulerEventsTest, TheWatchdogNamesWhatIsStuck) {
  watchdog_ns_ = 10'000 * kMs;
  Start("");
  Occupy();
  clock_.Advance(9'999 * kMs);
  EXPECT_TRUE(scheduler_->CheckProgress().ok());
  EXPECT_EQ(timers_.RunDue(), 0);
  clock_.Advance(2'001 * kMs);
  const base::Status stuck = scheduler_->CheckProgress();
  EXPECT_EQ(stuck.code(), base::StatusCode::kUnavailable);
  EXPECT_EQ(stuck.message(),
            "model 'm': instance 'm_0' has been executing for 12 s (limit 10 s); stuck in the "
            "execute function of its backend");
  EXPECT_EQ(timers_.RunDue(), 1);  // writes the log line
  EXPECT_EQ(timers_.size(), 0u);   // once
  runner_.Hold(false);
  sink_->WaitUntilDone(1);
  Occupy();  // the instance has noted that it is free when it takes the next
  EXPECT_TRUE(scheduler_->CheckProgress().ok());
}

TEST_F(SchedulerEventsTest, PreservedOrderAcrossInstances) {
  Start("dynamic_batching { preserve_ordering: true preferred_batch_size: [ 1 ] }",
        InlineMode::kNever, 2);
  ASSERT_NE(scheduler_->response_order(), nullptr);
  Occupy(1);
  ASSERT_TRUE(Submit("quick").ok());
  runners_[0].WaitForBatches(1);
  // The quick one is done (its instance takes the next), but its answer waits for the slow one's.
  ASSERT_TRUE(Submit("next").ok());
  runners_[0].WaitForBatches(2);
  EXPECT_EQ(sink_->finals(), 0u);
  runners_[1].Hold(false);
  sink_->WaitUntilDone(3);
  EXPECT_EQ(scheduler_->response_order()->places(), 0u);
}

TEST_F(SchedulerEventsTest, ARefusalDoesNotWaitForItsTurn) {
  Start(
      "dynamic_batching { preserve_ordering: true default_queue_policy { "
      "default_timeout_microseconds: 1000 } }");
  Occupy();
  ASSERT_TRUE(Submit("late").ok());
  clock_.Advance(kMs);
  timers_.RunDue();
  EXPECT_THAT(Errors(), ElementsAre("Request timeout expired"));
}

TEST_F(SchedulerEventsTest, WithoutTheSettingThereIsNoOrderToKeep) {
  Start("dynamic_batching { }");
  EXPECT_EQ(scheduler_->response_order(), nullptr);
}

/// Real time: what is cancelled, times out, is executed or refused races with all the rest.
TEST(SchedulerStressTest, EveryAcceptedRequestIsAnsweredOnce) {
  for (const char* batching :
       {"",
        "dynamic_batching { max_queue_delay_microseconds: 200 preserve_ordering: true "
        "default_queue_policy { default_timeout_microseconds: 500 max_queue_size: 20 } }"}) {
    base::ThreadTimerQueue timers;
    FakeObserver observer;
    FakeRunner runners[2];
    auto sink = std::make_shared<request::RecordingSink>();
    const auto model = request::MakeModel(std::string("name: \"m\" max_batch_size: 8 ") + batching);
    auto scheduler = MakeScheduler(*model->config, {{"m_0", &runners[0]}, {"m_1", &runners[1]}},
                                   SchedulerEnvironment{base::SteadyClock(), timers, observer,
                                                        InlineMode::kAlways})
                         .value();
    std::atomic<size_t> accepted{0};
    std::vector<std::thread> clients;
    for (int t = 0; t < 3; ++t) {
      clients.emplace_back([&, t] {
        for (int i = 0; i < 1'500; ++i) {
          auto request = std::make_unique<request::InferenceRequest>();
          request->batch_size = 1;
          request->may_run_inline = t == 0;
          if (i % 3 == 0) request->deadline_ns = base::SteadyClock().NowNs() + 20'000;
          request->SetSink(sink);
          request::BindRequest(*request, model);
          const auto cancellation = request->cancellation();
          if (!scheduler->Enqueue(request).ok()) {
            request->response_factory()->Disarm();
            continue;
          }
          ++accepted;
          if (i % 2 == t % 2) cancellation->Cancel();
        }
      });
    }
    for (auto& client : clients) client.join();
    scheduler.reset();
    EXPECT_EQ(sink->finals(), accepted.load());
    EXPECT_EQ(sink->errors().size(), accepted.load());
    EXPECT_EQ(sink->released(), accepted.load());
    EXPECT_EQ(observer.refused().size() + observer.requests(), accepted.load());
    sink->Clear();
  }
}

/// Grants when told to.
class FakePermits : public ExecutionPermits {
 public:
  BatchRunner* TryAcquire(std::span<BatchRunner* const> idle, Waiter& waiter) override {
    std::lock_guard lock(mutex_);
    ++asked_;
    if (!open_) {
      waiting_ = idle.front();
      waiter_ = &waiter;
      return nullptr;
    }
    ++held_;
    return idle.front();
  }
  void Release(BatchRunner*, bool executed) override {
    std::lock_guard lock(mutex_);
    --held_;
    executed_ += executed ? 1 : 0;
    changed_.notify_all();
  }
  void Settle() override {}
  void Withdraw(std::span<BatchRunner* const>) override {
    std::lock_guard lock(mutex_);
    withdrawn_ = true;
    changed_.notify_all();
  }
  void WaitUntilWithdrawn() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return withdrawn_; });
  }
  void Grant() {
    {
      std::lock_guard lock(mutex_);
      ++held_;
    }
    waiter_->OnPermit(waiting_);
  }
  void SetOpen(bool open) {
    std::lock_guard lock(mutex_);
    open_ = open;
  }
  void WaitUntilReleased() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return held_ == 0; });
  }
  int asked() const {
    std::lock_guard lock(mutex_);
    return asked_;
  }
  int executed() const {
    std::lock_guard lock(mutex_);
    return executed_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = true, withdrawn_ = false;
  int asked_ = 0, held_ = 0, executed_ = 0;
  BatchRunner* waiting_ = nullptr;
  Waiter* waiter_ = nullptr;
};

TEST_F(SchedulerEventsTest, TheBatchIsFormedWhenThePermitIsThere) {
  FakePermits permits;
  permits_ = &permits;
  permits.SetOpen(false);
  Start("dynamic_batching { }");
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(Enqueue().ok());
  EXPECT_EQ(runner_.batches(), 0u);
  permits.SetOpen(true);
  permits.Grant();
  EXPECT_EQ(runner_.WaitForBatches(1), (std::vector<size_t>{3}));
  sink_->WaitUntilDone(3);
  permits.WaitUntilReleased();
  EXPECT_EQ(permits.executed(), 1);
  scheduler_.reset();
}

TEST_F(SchedulerEventsTest, NoPermitIsAskedForWhileABatchMayGrow) {
  FakePermits permits;
  permits_ = &permits;
  Start("dynamic_batching { max_queue_delay_microseconds: 1000 }", InlineMode::kAlways);
  ASSERT_TRUE(Enqueue(true).ok());
  EXPECT_EQ(permits.asked(), 0);
  clock_.Advance(kMs);
  timers_.RunDue();
  sink_->WaitUntilDone(1);
  permits.WaitUntilReleased();
  EXPECT_EQ(permits.asked(), 1);
  scheduler_.reset();
}

TEST_F(SchedulerEventsTest, WhatIsQueuedWaitsForInstancesThatAreAddedLater) {
  FakePermits permits;
  permits_ = &permits;
  Start("");
  Occupy();
  ASSERT_TRUE(Submit("queued").ok());
  auto removal = std::async(std::launch::async, [&] { scheduler_->RemoveInstances({&runner_}); });
  permits.WaitUntilWithdrawn();  // from here on the instance gets nothing more
  runner_.Hold(false);
  removal.get();
  EXPECT_EQ(scheduler_->PendingCount(), 1u);
  ASSERT_TRUE(scheduler_->AddInstances({Instance(1)}).ok());
  sink_->WaitUntilDone(2);
  EXPECT_THAT(runners_[1].ids(), ElementsAre("queued"));
  scheduler_.reset();
}

TEST_F(SchedulerEventsTest, APermitThatComesTooLateIsGivenBack) {
  FakePermits permits;
  permits_ = &permits;
  permits.SetOpen(false);
  Start("");
  ASSERT_TRUE(Submit("a", clock_.NowNs() + kMs).ok());
  clock_.Advance(kMs);
  timers_.RunDue();
  EXPECT_EQ(sink_->finals(), 1u);
  permits.Grant();
  permits.WaitUntilReleased();
  EXPECT_EQ(permits.executed(), 0);
  scheduler_.reset();
}

}  // namespace
}  // namespace nereid::schedule
