// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "config/model_config.h"
#include "schedule/dynamic/batch_compatibility.h"
#include "schedule/sequence/ready_sequences.h"

namespace nereid::schedule {

/// The strategies of the instances of a model (DirectSlots or OldestCandidates, one object per
/// instance). Not thread-safe.
class InstanceStrategies {
 public:
  /// `config` has sequence batching options and must outlive this object.
  explicit InstanceStrategies(const config::ModelConfig& config);

  /// Creates the strategy of an instance. Changes nothing if it throws std::bad_alloc.
  void Add(InstanceId instance);
  void Remove(InstanceId instance) { strategies_.erase(instance); }
  /// Returns the strategy of an instance, or null for an unknown instance.
  ReadySequences* Find(InstanceId instance) const;
  uint32_t slots_per_instance() const { return slots_per_instance_; }

 private:
  const config::ModelConfig& config_;
  const BatchCompatibility compatibility_;
  const uint32_t slots_per_instance_;
  std::map<InstanceId, std::unique_ptr<ReadySequences>> strategies_;
};

}  // namespace nereid::schedule
