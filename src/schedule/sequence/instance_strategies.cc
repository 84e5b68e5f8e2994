// SPDX-License-Identifier: Apache-2.0
#include "schedule/sequence/instance_strategies.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "schedule/sequence/direct_slots.h"
#include "schedule/sequence/oldest_candidates.h"

namespace nereid::schedule {
namespace {

uint32_t SlotsPerInstance(const config::ModelConfig& config) {
  const auto* oldest = std::get_if<config::OldestStrategy>(&config.sequence_batching()->strategy);
  if (oldest != nullptr && oldest->max_candidate_sequences > 0) {
    return static_cast<uint32_t>(oldest->max_candidate_sequences);
  }
  return static_cast<uint32_t>(std::max(1, config.max_batch_size()));
}

}  // namespace

InstanceStrategies::InstanceStrategies(const config::ModelConfig& config)
    : config_(config), compatibility_(config), slots_per_instance_(SlotsPerInstance(config)) {}

void InstanceStrategies::Add(InstanceId instance) {
  const auto& strategy = config_.sequence_batching()->strategy;
  std::unique_ptr<ReadySequences> ready;
  if (const auto* oldest = std::get_if<config::OldestStrategy>(&strategy)) {
    ready = std::make_unique<OldestCandidates>(config_, *oldest);
  } else {
    ready = std::make_unique<DirectSlots>(std::get<config::DirectStrategy>(strategy),
                                          slots_per_instance_, compatibility_);
  }
  strategies_.emplace(instance, std::move(ready));
}

ReadySequences* InstanceStrategies::Find(InstanceId instance) const {
  const auto found = strategies_.find(instance);
  return found == strategies_.end() ? nullptr : found->second.get();
}

}  // namespace nereid::schedule
