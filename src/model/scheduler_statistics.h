// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <string>

#include "model/statistics_shard.h"
#include "schedule/scheduler_observer.h"

namespace nereid::model {

/// The part of a model's statistics that belongs to no instance: what happens to requests before
/// they reach one. Thread-safe.
class SchedulerStatistics final : public schedule::SchedulerObserver {
 public:
  explicit SchedulerStatistics(const base::Clock& clock) : statistics_(clock) {}

  void OnRefused(const request::InferenceRequest& request,
                 telemetry::FailureReason reason) override {
    statistics_.AddRefusal(request, reason);
  }
  void OnBatchClosed(schedule::BatchReason reason, uint64_t /*requests*/,
                     uint64_t /*batch_size*/) override {
    closed_[static_cast<size_t>(reason)].fetch_add(1, std::memory_order_relaxed);
  }

  void MergeInto(telemetry::ModelStatistics* total) const {
    statistics_.MergeInto(total);
    for (size_t i = 0; i < closed_.size(); ++i) {
      const auto label = schedule::BatchReasonLabel(static_cast<schedule::BatchReason>(i));
      total->batches_closed.emplace_back(label, closed_[i].load(std::memory_order_relaxed));
    }
  }

 private:
  StatisticsShard statistics_;
  // Indexed by BatchReason.
  std::array<std::atomic<uint64_t>, schedule::kBatchReasonCount> closed_{};
};

}  // namespace nereid::model
