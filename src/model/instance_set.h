// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "model/model_instance.h"
#include "telemetry/model_statistics.h"

namespace nereid::model {

using InstancePtr = std::shared_ptr<ModelInstance>;

/// The instances of a model, which may change while it serves, and the statistics of all instances
/// since the load, which stay when an instance goes. Thread-safe.
class InstanceSet {
 public:
  InstanceSet() = default;
  InstanceSet(const InstanceSet&) = delete;
  InstanceSet& operator=(const InstanceSet&) = delete;

  void Add(const std::vector<InstancePtr>& instances);

  /// Destroys instances, which the scheduler must have removed. Their statistics stay in the sum,
  /// except their memory usage.
  void Remove(std::vector<InstancePtr> instances);

  /// Removes instances from All() but keeps counting their statistics.
  void Hide(const std::vector<InstancePtr>& instances);

  /// Returns the instances in order of addition.
  std::vector<InstancePtr> All() const;

  /// Returns the first error that the backend reports for an instance.
  base::Status CheckReady() const;

  /// Adds the statistics of all instances since the load to `total`, whose counts must be zero.
  void AddStatisticsTo(telemetry::ModelStatistics* total) const;
  void AddSummariesTo(telemetry::LatencySummaries* total) const;

 private:
  mutable base::Mutex mutex_;
  std::vector<InstancePtr> instances_ NEREID_GUARDED_BY(mutex_);
  // The shards of instances_, and of instances that are being destroyed and may still count.
  std::vector<std::shared_ptr<StatisticsShard>> shards_ NEREID_GUARDED_BY(mutex_);
  // The sums of the destroyed instances.
  telemetry::ModelStatistics retired_ NEREID_GUARDED_BY(mutex_);
  telemetry::LatencySummaries retired_summaries_ NEREID_GUARDED_BY(mutex_);
};

}  // namespace nereid::model
