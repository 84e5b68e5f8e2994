// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "base/result.h"
#include "config/model_config.h"
#include "schedule/adaptive/batch_limits.h"
#include "schedule/adaptive/execution_cost.h"

namespace nereid::schedule {

/// The parameter of a model that switches adaptive batching on: microseconds within which nearly
/// all of its requests should be answered, from their arrival in the queue to the end of their
/// execution.
inline constexpr const char* kLatencyObjectiveParameter = "latency_objective_us";

/// The objective of a model in nanoseconds; none if it has none. INVALID_ARG, naming the parameter,
/// for a bad value and for a model without dynamic batching.
base::Result<std::optional<uint64_t>> ReadLatencyObjective(const config::ModelConfig& config);

/// Dynamic batching towards a latency objective:
///  - the size limit follows what batches take, by additive increase and multiplicative decrease as
///    in Clipper: a full batch within half the objective raises it by one, a batch beyond that
///    lowers it by a tenth. Half, because a request that just misses a batch waits for all of it
///    before its own begins. Once a request has waited longer than the objective, throughput is all
///    that helps, and the limit is max_batch_size;
///  - a batch is held back until what is left of its oldest request's time is what its execution is
///    expected to take (ExecutionCost), or until no request has come for a while: four times the
///    gap between the requests that came during earlier waits. Waits that bring
///    nothing become rare: each is followed by a longer time without any, at last 128 times as
///    long as the wait;
///  - nothing is held back where a larger batch would not make requests cheaper.
/// Time comes in as a parameter. Not thread-safe, but for size_limit().
class LatencyObjective final : public BatchLimits {
 public:
  LatencyObjective(uint64_t objective_ns, uint64_t max_batch_size);

  uint64_t SizeLimit(uint64_t oldest_ns, uint64_t now_ns) const override;
  uint64_t WaitUntil(const FormingBatch& batch, uint64_t now_ns) override;
  void OnTaken(const FormingBatch& batch, uint64_t now_ns) override;
  void OnExecuted(uint64_t size, uint64_t wait_ns, uint64_t execution_ns) override;

  uint64_t objective_ns() const { return objective_ns_; }
  /// The limit of this moment, for the metrics. Any thread.
  uint64_t size_limit() const { return published_limit_.load(std::memory_order_relaxed); }

 private:
  void SetLimit(double limit);
  void LearnGap(const FormingBatch& batch, uint64_t now_ns);

  const uint64_t objective_ns_;
  const uint64_t max_batch_size_;
  ExecutionCost cost_;
  double limit_ = 1;
  double patience_ = 1;          // the part of the spare time that is used, less after late answers
  double gap_ns_;                // how long the next request is waited for
  uint32_t fruitless_ = 0;       // waits in a row that brought nothing
  uint64_t quiet_until_ns_ = 0;  // no batch is held back before
  std::optional<FormingBatch> held_;  // the batch as it was when it was first held back
  uint64_t held_since_ns_ = 0;
  std::atomic<uint64_t> published_limit_{1};
};

}  // namespace nereid::schedule
