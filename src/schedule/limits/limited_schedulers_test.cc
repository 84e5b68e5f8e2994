// SPDX-License-Identifier: Apache-2.0
// Several schedulers with real threads that share resources.
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>

#include "request/binding.h"
#include "request/testing/make_model.h"
#include "request/testing/recording_sink.h"
#include "schedule/limits/resource_permits.h"
#include "schedule/make_scheduler.h"

namespace nereid::schedule {
namespace {

/// An instance that occupies `need` while it runs.
class OccupyingRunner final : public BatchRunner {
 public:
  OccupyingRunner(uint64_t need, std::atomic<uint64_t>& in_use, uint64_t capacity)
      : need_(need), in_use_(in_use), capacity_(capacity) {}
  void Run(Batch batch) noexcept override {
    if (in_use_.fetch_add(need_) + need_ > capacity_) over_.store(true);
    std::this_thread::yield();
    in_use_.fetch_sub(need_);
    for (auto& request : batch.requests) {
      request::RefuseRequest(std::move(request), base::Status::Internal("fake"));
    }
  }
  bool was_over() const { return over_.load(); }

 private:
  const uint64_t need_;
  std::atomic<uint64_t>& in_use_;
  const uint64_t capacity_;
  std::atomic<bool> over_{false};
};

class NoObserver final : public SchedulerObserver {
 public:
  void OnRefused(const request::InferenceRequest& /*request*/,
                 telemetry::FailureReason /*reason*/) override {}
  void OnBatchClosed(BatchReason /*reason*/, uint64_t /*requests*/,
                     uint64_t /*batch_size*/) override {}
};

/// A model of two instances with its scheduler.
struct LimitedModel {
  LimitedModel(const std::string& config, uint64_t need, std::atomic<uint64_t>& in_use,
               ResourcePermits& permits, base::TimerQueue& timers)
      : identity(request::MakeModel(config)), sink(std::make_shared<request::RecordingSink>()) {
    std::vector<SchedulerInstance> instances;
    for (int i = 0; i < 2; ++i) {
      runners.push_back(std::make_unique<OccupyingRunner>(need, in_use, 7));
      registrations.push_back(
          permits.Register(runners.back().get(), {0, 1, {{"R", false, need}}}).value());
      instances.push_back({"i" + std::to_string(i), runners.back().get()});
    }
    SchedulerEnvironment environment{base::SteadyClock(), timers, observer};
    environment.permits = &permits;
    scheduler = MakeScheduler(*identity->config, std::move(instances), environment).value();
  }
  void Send() {
    auto request = std::make_unique<request::InferenceRequest>();
    request->batch_size = 1;
    request->may_run_inline = sent % 2 == 0;
    request->SetSink(sink);
    request::BindRequest(*request, identity);
    ASSERT_TRUE(scheduler->Enqueue(request).ok());
    ++sent;
  }
  void Finish() {
    sink->WaitUntilDone(sent);
    scheduler.reset();
    sink->Clear();
  }

  std::shared_ptr<const request::ModelIdentity> identity;
  std::shared_ptr<request::RecordingSink> sink;
  NoObserver observer;
  std::vector<std::unique_ptr<OccupyingRunner>> runners;
  std::vector<ResourcePermits::Registration> registrations;
  std::unique_ptr<Scheduler> scheduler;
  size_t sent = 0;
};

TEST(LimitedSchedulers, EveryRequestIsServedWithinTheCapacity) {
  base::ThreadTimerQueue timers;
  ResourcePermits permits({{"R", 7, std::nullopt}});
  std::atomic<uint64_t> in_use{0};
  const std::string batching = "max_batch_size: 4 dynamic_batching { ";
  LimitedModel direct("name: \"direct\"", 4, in_use, permits, timers);
  LimitedModel batched("name: \"batched\" " + batching + "}", 3, in_use, permits, timers);
  LimitedModel delayed("name: \"delayed\" " + batching + "max_queue_delay_microseconds: 50 }", 6,
                       in_use, permits, timers);
  std::vector<std::thread> clients;
  for (LimitedModel* model : {&direct, &batched, &delayed}) {
    clients.emplace_back([model] {
      for (int i = 0; i < 400; ++i) {
        model->Send();
        if (i % 16 == 0) model->sink->WaitUntilDone(model->sent / 2);
      }
    });
  }
  for (std::thread& client : clients) client.join();
  for (LimitedModel* model : {&direct, &batched, &delayed}) {
    model->Finish();
    for (const auto& runner : model->runners) EXPECT_FALSE(runner->was_over());
  }
}

TEST(LimitedSchedulers, AModelThatGoesWhileItStandsInLineHoldsNobodyUp) {
  base::ThreadTimerQueue timers;
  ResourcePermits permits({{"R", 7, std::nullopt}});
  std::atomic<uint64_t> in_use{0};
  LimitedModel stays("name: \"stays\"", 5, in_use, permits, timers);
  for (int round = 0; round < 20; ++round) {
    LimitedModel goes("name: \"goes\"", 5, in_use, permits, timers);
    for (int i = 0; i < 10; ++i) {
      stays.Send();
      goes.Send();
    }
    goes.scheduler.reset();  // serves what is queued, then leaves the line
    goes.registrations.clear();
    goes.Finish();
  }
  stays.Finish();
  EXPECT_EQ(in_use.load(), 0u);
}

}  // namespace
}  // namespace nereid::schedule
