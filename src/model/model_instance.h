// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "backend/backend_instance.h"
#include "base/cpus.h"
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
  /// `placement` is where the instance's thread runs; `with_summaries` and the UUID of the
  /// specification are for StatisticsShard. `turn`, which may be null, is that of the instance's
  /// device.
  ModelInstance(backend::BackendModel& model, InstanceSpec spec, base::CpuPlacement placement,
                const base::Clock& clock, bool with_summaries,
                std::shared_ptr<DeviceTurn> turn = nullptr)
      : statistics_(
            std::make_shared<StatisticsShard>(clock, with_summaries, std::move(spec.gpu_uuid))),
        signature_(std::move(spec.signature)),
        limits_(std::move(spec.limits)),
        placement_(std::move(placement)),
        turn_(std::move(turn)),
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
    if (turn_ == nullptr) return backend_.Execute(std::move(batch.requests));
    turn_->Run([&] { backend_.Execute(std::move(batch.requests)); });
  }

 private:
  void OnRequest(const request::InferenceRequest& request, bool success,
                 const backend::ExecutionTimes& times) override {
    statistics_->AddRequest(request, success, times);
  }
  void OnBatch(uint64_t batch_size, const backend::ExecutionTimes& times) override {
    statistics_->AddBatch(batch_size, times);
  }
  void OnResponse(const backend::ResponseTimes& times) override { statistics_->AddResponse(times); }
  void OnMemoryUsage(const memory::BufferAttributes& usage) override {
    statistics_->AddMemoryUsage(usage);
  }

  const std::shared_ptr<StatisticsShard> statistics_;
  const std::string signature_;
  const schedule::LimitedInstance limits_;
  const base::CpuPlacement placement_;
  const std::shared_ptr<DeviceTurn> turn_;  // null: executions do not wait for other instances
  backend::BackendInstance backend_;
  schedule::ResourcePermits::Registration registration_;
};

}  // namespace nereid::model
