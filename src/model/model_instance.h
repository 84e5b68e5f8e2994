// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "backend/backend_instance.h"
#include "base/cpus.h"
#include "model/cpu/execution_threads.h"
#include "model/device_turn.h"
#include "model/instance_plan.h"
#include "model/statistics_shard.h"
#include "schedule/batch.h"
#include "schedule/limits/resource_permits.h"

namespace nereid::model {

/// One instance of a model: runs the scheduler's batches in the backend and counts its part of the
/// statistics.
class ModelInstance final : public schedule::BatchRunner, private backend::StatisticsObserver {
 public:
  /// `placement` is where the instance's thread runs; `latencies` and the UUID of the
  /// specification are for StatisticsShard. `turn`, which may be null, is that of the instance's
  /// device. `threads`, which must outlive the instance, decides about its executions on the CPU;
  /// null if nobody does.
  ModelInstance(backend::BackendModel& model, InstanceSpec spec, base::CpuPlacement placement,
                const base::Clock& clock, LatencyDetail latencies,
                std::shared_ptr<DeviceTurn> turn = nullptr, ExecutionThreads* threads = nullptr)
      : statistics_(std::make_shared<StatisticsShard>(clock, latencies, std::move(spec.gpu_uuid))),
        signature_(std::move(spec.signature)),
        limits_(std::move(spec.limits)),
        placement_(std::move(placement)),
        turn_(std::move(turn)),
        threads_(threads),
        backend_(model, std::move(spec.description), *this) {}

  base::Status Initialize() { return backend_.Initialize(); }
  /// Registers the instance's needs with the rate limiter until the instance is destroyed. Must be
  /// called before the instance is scheduled. Returns an error if the needs cannot be met.
  base::Status Register(schedule::ResourcePermits& permits) {
    NEREID_ASSIGN_OR_RETURN(registration_, permits.Register(this, limits_));
    return base::Status::Ok();
  }
  base::Status CheckReady() { return backend_.CheckReady(); }
  const std::string& name() const { return backend_.description().name; }
  const std::string& signature() const { return signature_; }
  const base::CpuPlacement& placement() const { return placement_; }
  bool passive() const { return backend_.description().passive; }
  /// Returns the statistics, which may be kept longer than the instance.
  const std::shared_ptr<StatisticsShard>& statistics() const { return statistics_; }

  void Run(schedule::Batch batch) noexcept override {
    if (turn_ != nullptr) {
      turn_->Run([&] { backend_.Execute(std::move(batch.requests)); });
    } else if (threads_ != nullptr) {
      RunOnThreads(std::move(batch));
    } else {
      backend_.Execute(std::move(batch.requests));
    }
  }
  bool HasRoom() override { return backend_.HasRoom(); }

 private:
  void RunOnThreads(schedule::Batch batch) {
    const auto execution = threads_->Begin(batch.input_bytes, skipped_);
    const int wanted = execution ? execution->threads : 1;
    if (threads_->varies() && wanted != set_threads_) {
      backend_.SetThreads(wanted);
      set_threads_ = wanted;
    }
    if (execution) {
      execution_ = *execution;
      executes_.store(true, std::memory_order_release);
    }
    backend_.Execute(std::move(batch.requests));
    EndExecution();
  }

  /// Ends the execution when the backend counts it, which it does before it answers: a client that
  /// has its answer sends the next request, which may have the CPUs.
  void EndExecution() {
    if (executes_.load(std::memory_order_relaxed) &&
        executes_.exchange(false, std::memory_order_acquire)) {
      threads_->End(execution_);
    }
  }

  void OnRequest(const request::InferenceRequest& request, bool success,
                 const backend::ExecutionTimes& times) override {
    EndExecution();
    statistics_->AddRequest(request, success, times);
  }
  void OnBatch(uint64_t batch_size, const backend::ExecutionTimes& times) override {
    EndExecution();
    statistics_->AddBatch(batch_size, times);
  }
  void OnResponse(const backend::ResponseTimes& times) override { statistics_->AddResponse(times); }
  void OnMemoryUsage(const std::vector<memory::BufferAttributes>& usage) override {
    statistics_->SetMemoryUsage(usage);
  }

  const std::shared_ptr<StatisticsShard> statistics_;
  const std::string signature_;
  const schedule::LimitedInstance limits_;
  const base::CpuPlacement placement_;
  const std::shared_ptr<DeviceTurn> turn_;  // null: executions do not wait for other instances
  ExecutionThreads* const threads_;         // null: nobody decides about threads
  uint32_t skipped_ = 0;                    // for threads_
  ExecutionThreads::Execution execution_;   // the current one
  std::atomic<bool> executes_{false};       // and whether it has not ended
  int set_threads_ = 0;                     // what the backend was told; 0: nothing yet
  backend::BackendInstance backend_;
  schedule::ResourcePermits::Registration registration_;
};

}  // namespace nereid::model
