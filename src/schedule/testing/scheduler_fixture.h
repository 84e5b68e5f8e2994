// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/thread_annotations.h"
#include "request/binding.h"
#include "request/response_factory.h"
#include "request/testing/make_model.h"
#include "request/testing/recording_sink.h"
#include "schedule/make_scheduler.h"

namespace nereid::schedule {

/// Records the sizes of its batches and the threads they ran on; can be told to hold a batch.
/// Answers each request with the error "fake".
class FakeRunner : public BatchRunner {
 public:
  void Run(Batch batch) noexcept override {
    base::MutexLock lock(mutex_);
    sizes_.push_back(batch.requests.size());
    threads_.push_back(std::this_thread::get_id());
    for (const RequestPtr& request : batch.requests) ids_.push_back(request->id);
    changed_.NotifyAll();
    while (hold_) changed_.Wait(lock);
    lock.Unlock();
    for (auto& request : batch.requests) {
      request::RefuseRequest(std::move(request), base::Status::Internal("fake"));
    }
  }
  bool HasRoom() override { return has_room_.load(); }
  void SetHasRoom(bool has_room) { has_room_ = has_room; }
  void Hold(bool hold) {
    base::MutexLock lock(mutex_);
    hold_ = hold;
    changed_.NotifyAll();
  }
  std::vector<size_t> WaitForBatches(size_t count) {
    base::MutexLock lock(mutex_);
    while (sizes_.size() < count) changed_.Wait(lock);
    return sizes_;
  }
  void Forget() {
    base::MutexLock lock(mutex_);
    sizes_.clear();
  }
  size_t batches() const {
    base::MutexLock lock(mutex_);
    return sizes_.size();
  }
  std::vector<std::thread::id> threads() const {
    base::MutexLock lock(mutex_);
    return threads_;
  }
  std::vector<std::string> ids() const {
    base::MutexLock lock(mutex_);
    return ids_;
  }

 private:
  mutable base::Mutex mutex_;
  base::ConditionVariable changed_;
  std::vector<size_t> sizes_ NEREID_GUARDED_BY(mutex_);
  std::vector<std::thread::id> threads_ NEREID_GUARDED_BY(mutex_);
  std::vector<std::string> ids_ NEREID_GUARDED_BY(mutex_);
  bool hold_ NEREID_GUARDED_BY(mutex_) = false;
  std::atomic<bool> has_room_{true};
};

/// Counts the reports of a scheduler.
class FakeObserver : public SchedulerObserver {
 public:
  void OnRefused(const request::InferenceRequest& request,
                 telemetry::FailureReason reason) override {
    base::MutexLock lock(mutex_);
    refused_.emplace_back(request.id, reason);
  }
  void OnBatchClosed(BatchReason reason, uint64_t requests, uint64_t batch_size) override {
    base::MutexLock lock(mutex_);
    ++closed_[reason];
    requests_ += requests;
    batch_size_ += batch_size;
  }
  std::vector<std::pair<std::string, telemetry::FailureReason>> refused() const {
    base::MutexLock lock(mutex_);
    return refused_;
  }
  int closed(BatchReason reason) const {
    base::MutexLock lock(mutex_);
    const auto found = closed_.find(reason);
    return found == closed_.end() ? 0 : found->second;
  }
  uint64_t requests() const {
    base::MutexLock lock(mutex_);
    return requests_;
  }

 private:
  mutable base::Mutex mutex_;
  std::vector<std::pair<std::string, telemetry::FailureReason>> refused_ NEREID_GUARDED_BY(mutex_);
  std::map<BatchReason, int> closed_ NEREID_GUARDED_BY(mutex_);
  uint64_t requests_ NEREID_GUARDED_BY(mutex_) = 0;
  uint64_t batch_size_ NEREID_GUARDED_BY(mutex_) = 0;
};

/// A scheduler under a fake clock, over runners that answer by themselves.
class SchedulerFixture : public ::testing::Test {
 protected:
  void TearDown() override {
    for (FakeRunner& runner : runners_) runner.Hold(false);
    scheduler_.reset();
    sink_->Clear();
  }

  /// `batching`: the rest of the configuration, "" for the default scheduler.
  void Start(const std::string& batching, InlineMode mode = InlineMode::kNever,
             size_t instances = 1) {
    model_ = request::MakeModel("name: \"m\" max_batch_size: 8 " + batching);
    std::vector<SchedulerInstance> all;
    for (size_t i = 0; i < instances; ++i) all.push_back(Instance(i));
    SchedulerEnvironment environment{clock_, timers_, observer_, mode};
    environment.watchdog_ns = watchdog_ns_;
    environment.permits = permits_;
    environment.start = start_;
    scheduler_ = MakeScheduler(*model_->config, std::move(all), environment).value();
  }
  SchedulerInstance Instance(size_t i) { return {"m_" + std::to_string(i), &runners_[i]}; }

  base::Status Submit(const std::string& id, uint64_t deadline_ns = 0, bool may_run_inline = false,
                      uint32_t batch_size = 1) {
    auto request = std::make_unique<request::InferenceRequest>();
    request->id = id;
    request->deadline_ns = deadline_ns;
    request->batch_size = batch_size;
    request->may_run_inline = may_run_inline;
    request->SetSink(sink_);
    request::BindRequest(*request, model_);
    {
      base::MutexLock lock(mutex_);
      cancellations_[id] = request->cancellation();
    }
    const base::Status status = scheduler_->Enqueue(request);
    if (!status.ok()) {
      EXPECT_NE(request, nullptr);  // it is still the caller's
      request->response_factory()->Disarm();
    }
    return status;
  }
  base::Status Enqueue(bool may_run_inline = false) { return Submit("", 0, may_run_inline); }
  /// Makes the instance busy with a request "busy", until its runner no longer holds batches.
  void Occupy(size_t instance = 0) {
    runners_[instance].Hold(true);
    const size_t before = runners_[instance].batches();
    ASSERT_TRUE(Submit("busy").ok());
    runners_[instance].WaitForBatches(before + 1);
  }

  base::FakeClock clock_;
  base::ManualTimerQueue timers_{clock_};
  FakeRunner runners_[3];
  FakeRunner& runner_ = runners_[0];
  FakeObserver observer_;
  uint64_t watchdog_ns_ = 0;
  ExecutionPermits* permits_ = nullptr;
  StartConditions start_;
  std::shared_ptr<request::RecordingSink> sink_ = std::make_shared<request::RecordingSink>();
  std::shared_ptr<const request::ModelIdentity> model_;
  base::Mutex mutex_;
  /// Written under mutex_; read when no Submit runs.
  std::map<std::string, std::shared_ptr<request::Cancellation>> cancellations_;
  std::unique_ptr<Scheduler> scheduler_;
};

}  // namespace nereid::schedule
