// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "base/result.h"
#include "config/model_config.h"
#include "schedule/adaptive/batch_limits.h"
#include "schedule/adaptive/objective_rules.h"
#include "schedule/adaptive/throughput_trial.h"

namespace nereid::schedule {

/// The model parameter that turns adaptive batching on: the time in microseconds within which
/// nearly all requests should be answered, from their arrival in the queue to the end of their
/// execution.
inline constexpr const char* kLatencyObjectiveParameter = "latency_objective_us";

/// Returns the latency objective of a model in nanoseconds, or nothing if the model has none.
/// Returns INVALID_ARGUMENT, naming the parameter, for a value out of range and for a model without
/// dynamic batching.
base::Result<std::optional<uint64_t>> ReadLatencyObjective(const config::ModelConfig& config);

/// Dynamic batching towards a latency objective by ObjectiveRules, as long as they cost no
/// throughput (ThroughputTrial). While they do not apply, batches go at once, with any size up to
/// max_batch_size.
///
/// Time is a parameter. Not thread-safe, except size_limit().
class LatencyObjective final : public BatchLimits {
 public:
  LatencyObjective(uint64_t objective_ns, uint64_t max_batch_size);

  uint64_t SizeLimit(uint64_t oldest_ns, uint64_t now_ns) const override;
  uint64_t WaitUntil(const FormingBatch& batch, uint64_t now_ns) override;
  void OnTaken(const FormingBatch& batch, uint64_t now_ns) override;
  void OnExecuted(uint64_t size, uint64_t wait_ns, uint64_t execution_ns, uint64_t now_ns) override;

  uint64_t size_limit() const override { return published_limit_.load(std::memory_order_relaxed); }

 private:
  const uint64_t max_batch_size_;
  ObjectiveRules rules_;
  ThroughputTrial trial_;
  std::atomic<uint64_t> published_limit_;
};

}  // namespace nereid::schedule
