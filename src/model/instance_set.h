// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "base/status.h"
#include "model/model_instance.h"
#include "telemetry/model_statistics.h"

namespace nereid::model {

using InstancePtr = std::shared_ptr<ModelInstance>;

/// The instances of a model, which change while it serves, and what they have counted, which does
/// not go with them. Thread-safe.
class InstanceSet {
 public:
  InstanceSet() = default;
  InstanceSet(const InstanceSet&) = delete;
  InstanceSet& operator=(const InstanceSet&) = delete;

  void Add(const std::vector<InstancePtr>& instances);

  /// Destroys instances that no scheduler knows any more. What they have counted stays in the sum,
  /// but for the memory that they took.
  void Remove(std::vector<InstancePtr> instances);

  /// All() does not give these any more; they still count.
  void Hide(const std::vector<InstancePtr>& instances);

  /// In order of their addition.
  std::vector<InstancePtr> All() const;

  /// The first failure among what the backend says of each instance.
  base::Status CheckReady() const;

  /// Adds what all instances have counted since the model was loaded to `total`, which must have no
  /// counts yet.
  void AddStatisticsTo(telemetry::ModelStatistics* total) const;
  void AddSummariesTo(telemetry::LatencySummaries* total) const;

 private:
  mutable std::mutex mutex_;
  std::vector<InstancePtr> instances_;  // guarded by mutex_
  // Those of `instances_`, and of instances that are being destroyed and may still count.
  std::vector<std::shared_ptr<StatisticsShard>> shards_;  // guarded by mutex_
  telemetry::ModelStatistics retired_;                    // guarded by mutex_: of destroyed ones
  telemetry::LatencySummaries retired_summaries_;         // guarded by mutex_, likewise
};

}  // namespace nereid::model
