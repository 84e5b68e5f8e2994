// SPDX-License-Identifier: Apache-2.0
// Sequences under the scheduler: its threads, timers, instances that come and go.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <random>
#include <thread>

#include "base/timer_queue.h"
#include "request/binding.h"
#include "request/response_factory.h"
#include "request/testing/make_model.h"
#include "schedule/make_scheduler.h"
#include "schedule/testing/scheduler_fixture.h"

namespace nereid::schedule {
namespace {

using ::testing::HasSubstr;

/// Waits for the answer of one request.
class WaitingSink final : public request::ResponseSink {
 public:
  void Send(std::unique_ptr<request::InferenceResponse> response, bool final) noexcept override {
    std::lock_guard lock(mutex_);
    if (response != nullptr) status_ = response->error();
    done_ = done_ || final;
    changed_.notify_all();
  }
  base::Status Wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return done_; });
    return status_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  base::Status status_;
};

/// A model that adds up what it gets in each row; the value of a request is its priority, the sum
/// is written to where its model_version says. Some requests are released late, by another thread.
class SummingRunner final : public BatchRunner {
 public:
  explicit SummingRunner(std::vector<std::atomic<uint64_t>>& sums, bool late = false)
      : sums_(sums), late_(late), releasing_([this] { ReleaseLate(); }) {}
  ~SummingRunner() override {
    {
      std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    releasing_.join();
  }

  void Run(Batch batch) noexcept override {
    rows_.resize(std::max(rows_.size(), batch.requests.size()));
    for (size_t row = 0; row < batch.requests.size(); ++row) {
      RequestPtr& request = batch.requests[row];
      if (!request->is_null) Add(rows_[row], *request);
      if (late_ && ++count_ % 3 == 0 && !request->is_null) {
        std::lock_guard lock(mutex_);
        held_.push_back(std::move(request));
        changed_.notify_all();
        continue;
      }
      request->response_factory()->SendFinal();
      request::ReleaseRequest(std::move(request));
    }
  }
  uint64_t wrong() const { return wrong_; }

 private:
  struct Row {
    request::CorrelationId id;
    uint64_t sum = 0;
  };
  void Add(Row& row, const request::InferenceRequest& request) {
    if ((request.flags & request::kFlagSequenceStart) != 0) row = {request.correlation_id, 0};
    if (row.id != request.correlation_id) ++wrong_;
    row.sum += request.priority;
    sums_[static_cast<size_t>(request.model_version)] = row.sum;
  }
  void ReleaseLate() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return !held_.empty() || stop_; });
      if (held_.empty()) return;
      RequestPtr request = std::move(held_.front());
      held_.pop_front();
      lock.unlock();
      request->response_factory()->SendFinal();
      request::ReleaseRequest(std::move(request));
      lock.lock();
    }
  }

  std::vector<std::atomic<uint64_t>>& sums_;
  const bool late_;
  std::vector<Row> rows_;
  int count_ = 0;
  std::atomic<uint64_t> wrong_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<RequestPtr> held_;  // guarded by mutex_
  bool stop_ = false;            // guarded by mutex_
  std::thread releasing_;
};

constexpr size_t kClients = 8;
constexpr size_t kDepth = 3;  // requests that a client has under way

class SequenceSchedulerTest : public ::testing::Test {
 protected:
  void Start(const std::string& batching, bool late) {
    model_ =
        request::MakeModel("name: \"m\" max_batch_size: 4 sequence_batching { " + batching + " }");
    SchedulerEnvironment environment{base::SteadyClock(), timers_, observer_, InlineMode::kAlways};
    environment.sequence_inputs = request::SequenceInputs::Create(model_->config, "/none").value();
    for (int i = 0; i < 3; ++i) runners_.push_back(std::make_unique<SummingRunner>(sums_, late));
    scheduler_ = MakeScheduler(*model_->config, {Instance(0), Instance(1)}, environment).value();
  }
  SchedulerInstance Instance(size_t i) { return {"m_" + std::to_string(i), runners_[i].get()}; }

  struct Sent {
    std::shared_ptr<WaitingSink> sink;
    std::shared_ptr<request::Cancellation> cancellation;
    size_t place;
    uint64_t expected;
    bool accepted;
  };
  Sent Send(uint64_t id, uint32_t flags, uint64_t value, size_t place) {
    auto request = std::make_unique<request::InferenceRequest>();
    request->correlation_id = id;
    request->flags = flags;
    request->priority = value;
    request->model_version = static_cast<int64_t>(place);
    request->batch_size = 1;
    request->may_run_inline = value % 2 == 0;
    Sent sent{std::make_shared<WaitingSink>(), request->cancellation(), place, 0, true};
    request->SetSink(sent.sink);
    request::BindRequest(*request, model_);
    sent.accepted = scheduler_->Enqueue(request).ok();
    if (!sent.accepted) request->response_factory()->Disarm();
    return sent;
  }

  /// Sequences one after the other, with always the same id; some are left without END, some are
  /// cancelled. Whatever is answered well has the right sum.
  void PlayClient(size_t client, int sequences) {
    std::mt19937_64 random(client);
    for (int sequence = 0; sequence < sequences; ++sequence) {
      const size_t length = 1 + random() % 6;
      const bool abandoned = random() % 5 == 0;
      std::deque<Sent> under_way;
      uint64_t expected = 0;
      for (size_t i = 0; i < length; ++i) {
        const uint64_t value = 1 + random() % 100;
        expected += value;
        const uint32_t flags = (i == 0 ? request::kFlagSequenceStart : 0) |
                               (i + 1 == length && !abandoned ? request::kFlagSequenceEnd : 0);
        // Places are reused when their request is answered.
        if (under_way.size() == kDepth) Check(&under_way);
        Sent sent = Send(client + 1, flags, value, client * kDepth + i % kDepth);
        if (!sent.accepted) break;  // it was idle for too long, or a request was cancelled
        sent.expected = expected;
        if (random() % 20 == 0) sent.cancellation->Cancel();
        under_way.push_back(std::move(sent));
      }
      while (!under_way.empty()) Check(&under_way);
    }
  }
  void Check(std::deque<Sent>* under_way) {
    const Sent sent = std::move(under_way->front());
    under_way->pop_front();
    const base::Status status = sent.sink->Wait();
    if (status.ok()) {
      if (sums_[sent.place] != sent.expected) ++wrong_;
      ++answered_;
    } else if (status.code() != base::StatusCode::kCancelled) {
      ++wrong_;
    }
  }

  void PlayAll(const std::string& batching, bool late) {
    Start(batching, late);
    std::vector<std::thread> clients;
    for (size_t i = 0; i < kClients; ++i) clients.emplace_back([this, i] { PlayClient(i, 150); });
    for (int i = 0; i < 4; ++i) {
      ASSERT_TRUE(scheduler_->AddInstances({Instance(2)}).ok());
      (void)scheduler_->CountSequences();
      (void)scheduler_->ListSequences(3);
      scheduler_->RemoveInstances({runners_[2].get()});
    }
    for (std::thread& client : clients) client.join();
    scheduler_->EndIdleSequences();
    scheduler_.reset();
    EXPECT_EQ(wrong_, 0u);
    EXPECT_GT(answered_, 1000u);
    for (const auto& runner : runners_) EXPECT_EQ(runner->wrong(), 0u);
  }

  base::ThreadTimerQueue timers_;
  FakeObserver observer_;
  std::shared_ptr<const request::ModelIdentity> model_;
  std::vector<std::atomic<uint64_t>> sums_ = std::vector<std::atomic<uint64_t>>(kClients * kDepth);
  std::vector<std::unique_ptr<SummingRunner>> runners_;
  std::unique_ptr<Scheduler> scheduler_;
  std::atomic<uint64_t> wrong_{0}, answered_{0};
};

TEST_F(SequenceSchedulerTest, ManyClientsDirect) {
  PlayAll("max_sequence_idle_microseconds: 3000 direct { }", /*late=*/false);
}
TEST_F(SequenceSchedulerTest, ManyClientsAndLateReleases) {
  PlayAll("max_sequence_idle_microseconds: 3000 direct { }", /*late=*/true);
}

// The rest has no races: the time stands still unless a test moves it.
class QuietSequenceTest : public SchedulerFixture {
 protected:
  void Use(const std::string& batching) {
    model_ =
        request::MakeModel("name: \"m\" max_batch_size: 1 sequence_batching { " + batching + " }");
    SchedulerEnvironment environment{clock_, timers_, observer_, InlineMode::kNever};
    environment.sequence_inputs = request::SequenceInputs::Create(model_->config, "/none").value();
    scheduler_ = MakeScheduler(*model_->config, {Instance(0)}, environment).value();
  }
  base::Status Send(uint64_t id, uint32_t flags, const std::string& name) {
    auto request = std::make_unique<request::InferenceRequest>();
    request->id = name;
    request->correlation_id = id;
    request->flags = flags;
    request->batch_size = 1;
    request->SetSink(sink_);
    request::BindRequest(*request, model_);
    {
      base::MutexLock lock(mutex_);
      cancellations_[name] = request->cancellation();
    }
    const base::Status status = scheduler_->Enqueue(request);
    if (!status.ok()) request->response_factory()->Disarm();
    return status;
  }
  static constexpr uint32_t kBegin = request::kFlagSequenceStart;
};

TEST_F(QuietSequenceTest, TheTimerEndsIdleSequences) {
  Use("max_sequence_idle_microseconds: 1000 direct { }");
  ASSERT_TRUE(Send(1, kBegin, "a").ok());
  sink_->WaitUntilDone(1);
  ASSERT_TRUE(Send(2, kBegin, "b").ok());
  EXPECT_EQ(scheduler_->CountSequences()->backlog, 1u);
  clock_.Advance(1'000'000);
  timers_.RunDue();
  sink_->WaitUntilDone(2);
  EXPECT_EQ(scheduler_->CountSequences()->backlog, 0u);
  EXPECT_THAT(Send(1, 0, "c").message(), HasSubstr("must specify the START flag"));
}

TEST_F(QuietSequenceTest, ACancelledRequestInTheBacklogIsAnsweredAtOnce) {
  Use("direct { }");
  ASSERT_TRUE(Send(1, kBegin, "a").ok());
  sink_->WaitUntilDone(1);
  ASSERT_TRUE(Send(2, kBegin, "b").ok());
  cancellations_["b"]->Cancel();
  timers_.RunDue();
  sink_->WaitUntilDone(2);
  EXPECT_EQ(sink_->errors()[1].code(), base::StatusCode::kCancelled);
  EXPECT_EQ(observer_.refused()[0].second, telemetry::FailureReason::kCanceled);
}

TEST_F(QuietSequenceTest, TellsWhichSequencesAreOpen) {
  Use("direct { }");
  EXPECT_FALSE(scheduler_->sequence_port()->Has(uint64_t{1}));
  ASSERT_TRUE(Send(1, kBegin, "a").ok());
  EXPECT_TRUE(scheduler_->sequence_port()->Has(uint64_t{1}));
  EXPECT_FALSE(scheduler_->sequence_port()->Has(uint64_t{2}));
  EXPECT_FALSE(scheduler_->sequence_port()->Has(std::string("1")));
  ASSERT_TRUE(Send(1, request::kFlagSequenceEnd, "b").ok());
  sink_->WaitUntilDone(2);
  EXPECT_FALSE(scheduler_->sequence_port()->Has(uint64_t{1}));
}

TEST_F(QuietSequenceTest, AnInstanceIsRemovedWhenItsSequencesAreOver) {
  Use("direct { }");
  ASSERT_TRUE(Send(1, kBegin, "a").ok());
  sink_->WaitUntilDone(1);
  ASSERT_TRUE(scheduler_->AddInstances({Instance(1)}).ok());
  std::thread removing([this] { scheduler_->RemoveInstances({&runners_[0]}); });
  while (scheduler_->CountSequences()->slots != 1) std::this_thread::yield();
  ASSERT_TRUE(Send(2, kBegin, "b").ok());
  ASSERT_TRUE(Send(1, request::kFlagSequenceEnd, "c").ok());
  removing.join();
  sink_->WaitUntilDone(3);
  EXPECT_EQ(runners_[0].ids(), (std::vector<std::string>{"a", "c"}));
  EXPECT_EQ(runners_[1].ids(), (std::vector<std::string>{"b"}));
}

TEST_F(QuietSequenceTest, TheEndDoesNotWaitForClients) {
  Use("max_sequence_idle_microseconds: 3600000000 direct { }");
  ASSERT_TRUE(Send(1, kBegin, "a").ok());
  ASSERT_TRUE(Send(2, kBegin, "b").ok());
  ASSERT_TRUE(Send(3, kBegin, "c").ok());
  scheduler_.reset();  // what is queued is served
  EXPECT_EQ(runners_[0].ids(), (std::vector<std::string>{"a", "b", "c"}));
}

/// Wants each request twice.
class TwiceRunner final : public BatchRunner {
 public:
  void Run(Batch batch) noexcept override {
    for (RequestPtr& request : batch.requests) {
      flags.push_back(request->flags);
      if (flags.size() % 2 == 1) {
        status = request->release_listener->Reschedule(request);
        if (status.ok()) continue;
      }
      request->response_factory()->SendFinal();
      request::ReleaseRequest(std::move(request));
    }
  }
  std::vector<uint32_t> flags;
  base::Status status;
};

TEST_F(QuietSequenceTest, ABackendMayAskForAnotherExecution) {
  for (const bool iterative : {true, false}) {
    TwiceRunner runner;
    model_ = request::MakeModel(
        std::string("name: \"m\" max_batch_size: 1 sequence_batching { iterative_sequence: ") +
        (iterative ? "true" : "false") + " }");
    SchedulerEnvironment environment{clock_, timers_, observer_, InlineMode::kNever};
    environment.sequence_inputs = request::SequenceInputs::Create(model_->config, "/none").value();
    scheduler_ = MakeScheduler(*model_->config, {{"m_0", &runner}}, environment).value();
    ASSERT_TRUE(Send(7, kBegin, "a").ok());
    sink_->WaitUntilDone(iterative ? 1 : 2);
    scheduler_.reset();
    if (iterative) {
      EXPECT_EQ(runner.flags, (std::vector<uint32_t>{kBegin, 0}));
      EXPECT_TRUE(runner.status.ok());
      EXPECT_EQ(sink_->released_requests()[0]->flags, kBegin);  // as the client gave them
    } else {
      EXPECT_EQ(runner.flags, (std::vector<uint32_t>{kBegin}));
      EXPECT_THAT(runner.status.message(), HasSubstr("not configured to handle such a flag"));
    }
  }
}

}  // namespace
}  // namespace nereid::schedule
