// SPDX-License-Identifier: Apache-2.0
// A failed allocation ends one request with an error, and never the process. Each test plays one
// scenario again and again: the first time the first allocation fails, then the second one, and so
// on, until the scenario succeeds without a failure; once with the others succeeding, and once with
// all later ones of the event failing. Whatever fails, each accepted request is answered and
// released once, and the next request is executed.
#include <gtest/gtest.h>

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "base/stages.h"
#include "base/testing/failing_allocation.h"
#include "request/binding.h"
#include "request/response_factory.h"
#include "request/testing/make_model.h"
#include "schedule/make_scheduler.h"
#include "schedule/testing/scheduler_fixture.h"

namespace nereid::schedule {
namespace {

using base::testing::FailingAllocation;
using Extent = FailingAllocation::Extent;

constexpr uint32_t kBegin = request::kFlagSequenceStart;
constexpr uint32_t kFinish = request::kFlagSequenceEnd;

/// Counts the answers and the returns of one request. Does not allocate.
class Tally final : public request::ResponseSink {
 public:
  void Send(std::unique_ptr<request::InferenceResponse> response, bool final) noexcept override {
    std::lock_guard lock(mutex_);
    if (response != nullptr) ++errors_;
    if (final) ++finals_;
  }
  void RequestReleased(std::unique_ptr<request::InferenceRequest> /*request*/) noexcept override {
    std::lock_guard lock(mutex_);
    ++releases_;
  }
  bool IsDone() const {
    std::lock_guard lock(mutex_);
    return finals_ > 0 && releases_ > 0;
  }
  int errors() const {
    std::lock_guard lock(mutex_);
    return errors_;
  }
  int finals() const {
    std::lock_guard lock(mutex_);
    return finals_;
  }
  int releases() const {
    std::lock_guard lock(mutex_);
    return releases_;
  }

 private:
  mutable std::mutex mutex_;
  int errors_ = 0;
  int finals_ = 0;
  int releases_ = 0;
};

/// Answers and releases its requests, or keeps the next one for the test, or blocks. Does not
/// allocate.
class KeepingRunner final : public BatchRunner {
 public:
  void Run(Batch batch) noexcept override {
    {
      std::unique_lock lock(mutex_);
      running_ = true;
      changed_.notify_all();
      changed_.wait(lock, [this] { return !blocked_; });
      running_ = false;
    }
    for (RequestPtr& request : batch.requests) {
      if (request == nullptr) continue;
      {
        std::lock_guard lock(mutex_);
        if (keep_) {
          keep_ = false;
          kept_ = std::move(request);
          changed_.notify_all();
          continue;
        }
      }
      request->response_factory()->SendFinal();
      request::ReleaseRequest(std::move(request));
    }
  }
  void Block(bool blocked) {
    std::lock_guard lock(mutex_);
    blocked_ = blocked;
    changed_.notify_all();
  }
  void WaitUntilRunning() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return running_; });
  }
  void KeepNext() {
    std::lock_guard lock(mutex_);
    keep_ = true;
  }
  RequestPtr TakeKept() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return kept_ != nullptr; });
    return std::move(kept_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool blocked_ = false;
  bool running_ = false;
  bool keep_ = false;
  RequestPtr kept_;
};

class OutOfMemoryTest : public ::testing::Test {
 protected:
  void TearDown() override { scheduler_.reset(); }

  /// One playing of a scenario: a scheduler, and the requests that it accepted.
  void Use(const std::string& batching, int max_batch_size = 1) {
    scheduler_.reset();
    accepted_.clear();
    runner_ = std::make_unique<KeepingRunner>();
    model_ = request::MakeModel("name: \"m\" max_batch_size: " + std::to_string(max_batch_size) +
                                " " + batching);
    SchedulerEnvironment environment{clock_, timers_, observer_, InlineMode::kAlways};
    if (model_->config->sequence_batching()) {
      environment.sequence_inputs =
          request::SequenceInputs::Create(model_->config, "/none").value();
    }
    scheduler_ = MakeScheduler(*model_->config, {{"m_0", runner_.get()}}, environment).value();
  }
  RequestPtr Make(uint64_t id, uint32_t flags, uint64_t timeout_us = 0) {
    auto request = std::make_unique<request::InferenceRequest>();
    request->correlation_id = id;
    request->flags = flags;
    request->batch_size = 1;
    request->timeout_us = timeout_us;
    request->SetSink(std::make_shared<Tally>());
    request::BindRequest(*request, model_);
    return request;
  }
  /// Makes the instance busy until Block(false).
  void Occupy() {
    runner_->Block(true);
    Send(Make(0, 0));
    runner_->WaitUntilRunning();
  }
  /// Runs the due timers; the timer queue itself may be out of memory, too.
  void RunTimers() {
    try {
      timers_.RunDue();
    } catch (const std::bad_alloc&) {
    }
  }
  /// Enqueues with memory.
  void Send(RequestPtr request) {
    auto tally = std::static_pointer_cast<Tally>(request->sink());
    ASSERT_TRUE(scheduler_->Enqueue(request).ok());
    accepted_.push_back(std::move(tally));
  }
  /// Enqueues; a refused request must still be the caller's and must not have been answered.
  void TrySend(RequestPtr& request) {
    const auto tally = std::static_pointer_cast<Tally>(request->sink());
    bool accepted = false;
    try {
      accepted = scheduler_->Enqueue(request).ok();
    } catch (const std::bad_alloc&) {
    }
    if (accepted) {
      late_ = tally;
      return;
    }
    if (request == nullptr) {
      lost_ = true;
      return;
    }
    request->response_factory()->Disarm();
    if (tally->finals() > 0) lost_ = true;
  }

  /// After the failure the scheduler serves a further request, and all others were answered once.
  void ExpectAllServed() {
    EXPECT_FALSE(lost_);
    if (late_ != nullptr) accepted_.push_back(std::move(late_));
    Send(Make(99, kBegin | kFinish));
    for (const auto& tally : accepted_) {
      while (!tally->IsDone()) {  // the time drives what has no other event
        clock_.Advance(10'000'000'000);
        timers_.RunDue();
        std::this_thread::yield();
      }
    }
    if (!all_time_out_) {
      EXPECT_EQ(accepted_.back()->errors(), 0);
    }
    scheduler_.reset();
    for (const auto& tally : accepted_) {
      EXPECT_EQ(tally->finals(), 1);
      EXPECT_EQ(tally->releases(), 1);
    }
  }

  /// `prepare` brings the scheduler into the state in which `event` happens with failures.
  void Play(
      const std::function<void()>& prepare, const std::function<void()>& event,
      const std::function<void()>& after = [] {}) {
    for (const Extent extent : {Extent::kOne, Extent::kAllAfter}) {
      uint64_t failing = 0;
      for (bool failed = true; failed && !HasFailure(); ++failing) {
        prepare();
        {
          const FailingAllocation failure(failing, extent);
          event();
          failed = failure.has_failed();
        }
        after();
        ExpectAllServed();
        ASSERT_FALSE(HasFailure()) << "allocation " << failing;
        ASSERT_LT(failing, 10'000u);
      }
      EXPECT_GT(failing, 1u) << "nothing was allocated";
    }
  }

  base::FakeClock clock_;
  base::ManualTimerQueue timers_{clock_};
  FakeObserver observer_;
  std::shared_ptr<const request::ModelIdentity> model_;
  std::unique_ptr<KeepingRunner> runner_;
  std::unique_ptr<Scheduler> scheduler_;
  std::vector<std::shared_ptr<Tally>> accepted_;
  std::shared_ptr<Tally> late_;
  bool lost_ = false;
  bool all_time_out_ = false;  // the model refuses the last request, too, when time passes
};

const char* const kSequenceStrategies[] = {
    "sequence_batching { direct { } }",
    "sequence_batching { oldest { max_candidate_sequences: 1 preserve_ordering: true } }"};

TEST_F(OutOfMemoryTest, AReleaseThatOffersTheNextRequest) {
  for (const char* batching : kSequenceStrategies) {
    RequestPtr kept;
    Play(
        [&] {
          Use(batching);
          runner_->KeepNext();
          Send(Make(1, kBegin));
          kept = runner_->TakeKept();
          Send(Make(1, 0));
          Send(Make(1, kFinish));
          Send(Make(2, kBegin | kFinish));  // in the backlog
          Send(Make(3, kBegin | kFinish));
          kept->response_factory()->SendFinal();
        },
        [&] { request::ReleaseRequest(std::move(kept)); });
  }
}

TEST_F(OutOfMemoryTest, AReleaseThatEndsTheSequence) {
  for (const char* batching : kSequenceStrategies) {
    RequestPtr kept;
    Play(
        [&] {
          Use(batching);
          runner_->KeepNext();
          Send(Make(1, kBegin | kFinish));
          kept = runner_->TakeKept();
          Send(Make(1, kBegin | kFinish));  // the successor
          Send(Make(2, kBegin | kFinish));
          kept->response_factory()->SendFinal();
        },
        [&] { request::ReleaseRequest(std::move(kept)); });
  }
}

TEST_F(OutOfMemoryTest, ARescheduledRequest) {
  for (const char* strategy : {"direct { }", "oldest { max_candidate_sequences: 1 }"}) {
    RequestPtr kept;
    Play(
        [&] {
          Use("sequence_batching { iterative_sequence: true " + std::string(strategy) + " }");
          runner_->KeepNext();
          RequestPtr request = Make(1, kBegin);
          request->deadline_ns = clock_.NowNs() + 1'000'000'000;
          Send(std::move(request));
          kept = runner_->TakeKept();
          Send(Make(2, kBegin));
        },
        [&] { (void)kept->release_listener->Reschedule(kept); },
        [&] {
          if (kept == nullptr) return;  // it was taken
          kept->response_factory()->SendFinal();
          request::ReleaseRequest(std::move(kept));
        });
  }
}

TEST_F(OutOfMemoryTest, AnArrival) {
  const std::vector<std::string> models = {"", "dynamic_batching { }",
                                           "dynamic_batching { preserve_ordering: true }",
                                           kSequenceStrategies[0], kSequenceStrategies[1]};
  for (const std::string& batching : models) {
    for (const bool may_run_inline : {false, true}) {
      RequestPtr request;
      Play(
          [&] {
            Use(batching);
            Send(Make(1, kBegin));
            request = Make(1, kFinish, /*timeout_us=*/1'000'000);
            request->deadline_ns = clock_.NowNs() + 1'000'000'000;
            request->may_run_inline = may_run_inline;
          },
          [&] { TrySend(request); });
    }
  }
}

TEST_F(OutOfMemoryTest, AnArrivalThatBeginsASequenceInTheBacklog) {
  for (const char* batching : kSequenceStrategies) {
    RequestPtr request;
    Play(
        [&] {
          Use(batching);
          Send(Make(1, kBegin));
          request = Make(2, kBegin | kFinish, /*timeout_us=*/1'000'000'000'000);
        },
        [&] { TrySend(request); }, [&] { Send(Make(1, kFinish)); });
  }
}

TEST_F(OutOfMemoryTest, TheEndOfADelay) {
  Play(
      [&] {
        Use("dynamic_batching { max_queue_delay_microseconds: 1000 }", 8);
        for (int i = 0; i < 3; ++i) Send(Make(0, 0));
        clock_.Advance(2'000'000);
      },
      [&] { RunTimers(); });
}

TEST_F(OutOfMemoryTest, ASampleForTheWatchdog) {
  bool is_known = true;
  const auto sample = [&](uint64_t /*id*/, const base::StageFacts& facts, base::Stage& stage) {
    if (facts.kind != base::StageKind::kScheduler) return;
    try {
      is_known = stage.Sample(clock_.NowNs()).has_value();
    } catch (const std::bad_alloc&) {
    }
  };
  Play(
      [&] {
        Use("dynamic_batching { max_queue_delay_microseconds: 1000 }", 8);
        Send(Make(0, 0));
        clock_.Advance(2'000'000);  // the text says that the time of the request has passed
      },
      [&] { base::ProcessStages().ForEach(sample); },
      [&] {
        base::ProcessStages().ForEach(sample);
        ASSERT_TRUE(is_known) << "the scheduler is locked";
      });
}

TEST_F(OutOfMemoryTest, TimeoutsInTheQueue) {
  all_time_out_ = true;
  for (const char* action : {"REJECT", "DELAY"}) {
    Play(
        [&] {
          Use("dynamic_batching { default_queue_policy { default_timeout_microseconds: 1000 "
              "timeout_action: " +
              std::string(action) + " } }");
          Occupy();
          for (int i = 0; i < 3; ++i) {
            RequestPtr request = Make(0, 0);
            request->deadline_ns = clock_.NowNs() + 1'000'000'000'000;
            Send(std::move(request));
          }
          clock_.Advance(2'000'000);
        },
        [&] { RunTimers(); }, [&] { runner_->Block(false); });
  }
}

TEST_F(OutOfMemoryTest, ACancellation) {
  for (const char* batching : {"", "dynamic_batching { }"}) {
    std::shared_ptr<request::Cancellation> cancellation;
    Play(
        [&] {
          Use(batching);
          Occupy();
          RequestPtr request = Make(0, 0);
          cancellation = request->cancellation();
          Send(std::move(request));
          Send(Make(0, 0));
        },
        [&] {
          cancellation->Cancel();
          RunTimers();
        },
        [&] { runner_->Block(false); });
  }
}

}  // namespace
}  // namespace nereid::schedule
