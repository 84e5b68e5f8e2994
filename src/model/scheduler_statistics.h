// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/statistics_shard.h"
#include "schedule/scheduler_observer.h"

namespace nereid::model {

/// The share of a model's statistics that no instance can count: what happens to requests before
/// they reach one. Thread-safe.
class SchedulerStatistics final : public schedule::SchedulerObserver {
 public:
  explicit SchedulerStatistics(const base::Clock& clock) : statistics_(clock) {}

  void OnRefused(const request::InferenceRequest& request,
                 telemetry::FailureReason reason) override {
    statistics_.AddRefusal(request, reason);
  }
  void OnBatchClosed(schedule::BatchReason /*reason*/, uint64_t /*requests*/,
                     uint64_t /*batch_size*/) override {}

  void MergeInto(telemetry::ModelStatistics* total) const { statistics_.MergeInto(total); }

 private:
  StatisticsShard statistics_;
};

}  // namespace nereid::model
