// SPDX-License-Identifier: Apache-2.0
#include "model/instance_set.h"

#include <algorithm>

namespace nereid::model {

void InstanceSet::Add(const std::vector<InstancePtr>& instances) {
  base::MutexLock lock(mutex_);
  for (const InstancePtr& instance : instances) {
    instances_.push_back(instance);
    shards_.push_back(instance->statistics());
  }
}

void InstanceSet::Remove(std::vector<InstancePtr> instances) {
  std::vector<std::shared_ptr<StatisticsShard>> leaving;
  {
    base::MutexLock lock(mutex_);
    for (const InstancePtr& instance : instances) {
      std::erase(instances_, instance);
      leaving.push_back(instance->statistics());
    }
  }
  instances.clear();  // without the lock: the plug-in may report its last numbers
  base::MutexLock lock(mutex_);
  for (const auto& shard : leaving) {
    if (std::erase(shards_, shard) == 0) continue;
    shard->MergeInto(&retired_);
    shard->MergeInto(&retired_summaries_);
  }
  // The memory of a destroyed instance is free.
  retired_.memory_usage.clear();
}

void InstanceSet::Hide(const std::vector<InstancePtr>& instances) {
  base::MutexLock lock(mutex_);
  for (const InstancePtr& instance : instances) std::erase(instances_, instance);
}

std::vector<InstancePtr> InstanceSet::All() const {
  base::MutexLock lock(mutex_);
  return instances_;
}

base::Status InstanceSet::CheckReady() const {
  for (const InstancePtr& instance : All()) NEREID_RETURN_IF_ERROR(instance->CheckReady());
  return base::Status::Ok();
}

void InstanceSet::AddStatisticsTo(telemetry::ModelStatistics* total) const {
  base::MutexLock lock(mutex_);
  total->last_inference_ms = retired_.last_inference_ms;
  total->inference_count = retired_.inference_count;
  total->execution_count = retired_.execution_count;
  total->inference_stats = retired_.inference_stats;
  total->on_gpus = retired_.on_gpus;
  total->response_stats = retired_.response_stats;
  total->batch_stats = retired_.batch_stats;
  total->failures_by_reason = retired_.failures_by_reason;
  total->latency_counts = retired_.latency_counts;
  for (const auto& shard : shards_) shard->MergeInto(total);
}

void InstanceSet::AddSummariesTo(telemetry::LatencySummaries* total) const {
  base::MutexLock lock(mutex_);
  total->Merge(retired_summaries_);
  for (const auto& shard : shards_) shard->MergeInto(total);
}

}  // namespace nereid::model
