// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backend/backend_instance.h"
#include "model/statistics_shard.h"
#include "schedule/batch.h"

namespace nereid::model {

/// One instance of a model: runs the scheduler's batches on the backend and keeps its share of the
/// statistics.
class ModelInstance final : public schedule::BatchRunner, private backend::StatisticsObserver {
 public:
  ModelInstance(backend::BackendModel& model, backend::BackendInstance::Description description,
                const base::Clock& clock)
      : statistics_(clock), backend_(model, std::move(description), *this) {}

  base::Status Initialize() { return backend_.Initialize(); }
  base::Status CheckReady() { return backend_.CheckReady(); }
  const std::string& name() const { return backend_.description().name; }
  bool passive() const { return backend_.description().passive; }
  const StatisticsShard& statistics() const { return statistics_; }

  void Run(schedule::Batch batch) noexcept override { backend_.Execute(std::move(batch.requests)); }

 private:
  void OnRequest(const request::InferenceRequest& request, bool success,
                 const backend::ExecutionTimes& times) override {
    statistics_.AddRequest(request, success, times);
  }
  void OnBatch(uint64_t batch_size, const backend::ExecutionTimes& times) override {
    statistics_.AddBatch(batch_size, times);
  }
  void OnResponse(const backend::ResponseTimes& times) override { statistics_.AddResponse(times); }
  void OnMemoryUsage(const memory::BufferAttributes& usage) override {
    statistics_.AddMemoryUsage(usage);
  }

  StatisticsShard statistics_;
  backend::BackendInstance backend_;
};

}  // namespace nereid::model
