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

/// The model parameter that turns adaptive batching on: the time in microseconds within which
/// nearly all requests should be answered, from their arrival in the queue to the end of their
/// execution.
inline constexpr const char* kLatencyObjectiveParameter = "latency_objective_us";

/// Returns the latency objective of a model in nanoseconds, or nothing if the model has none.
/// Returns INVALID_ARGUMENT, naming the parameter, for a value out of range and for a model without
/// dynamic batching.
base::Result<std::optional<uint64_t>> ReadLatencyObjective(const config::ModelConfig& config);

/// Dynamic batching towards a latency objective:
///  - The size limit follows the measured durations by additive increase and multiplicative
///    decrease, as in Clipper (Crankshaw et al., NSDI 2017). A full batch that takes at most half
///    the objective raises the limit by one; a batch that takes longer lowers it by a tenth. Half,
///    because a request that just misses a batch waits for all of that batch before its own begins.
///    For a batch whose oldest request has waited longer than the objective, the limit is
///    max_batch_size, because only throughput helps then.
///  - A batch is held back while its oldest request has time to spare beyond the expected execution
///    (ExecutionCost), but only until no request has arrived for four times the mean gap between
///    the requests that arrived during earlier holds. After a hold that brought no request, no
///    batch is held back for a multiple of that hold: twice at first, doubled each time, 128 times
///    at most.
///  - No batch is held back if a larger one would not make requests cheaper.
///
/// Time is a parameter. Not thread-safe, except size_limit().
class LatencyObjective final : public BatchLimits {
 public:
  LatencyObjective(uint64_t objective_ns, uint64_t max_batch_size);

  uint64_t SizeLimit(uint64_t oldest_ns, uint64_t now_ns) const override;
  uint64_t WaitUntil(const FormingBatch& batch, uint64_t now_ns) override;
  void OnTaken(const FormingBatch& batch, uint64_t now_ns) override;
  void OnExecuted(uint64_t size, uint64_t wait_ns, uint64_t execution_ns) override;

  uint64_t objective_ns() const { return objective_ns_; }
  /// Returns the current size limit, for the metrics. May be called on any thread.
  uint64_t size_limit() const { return published_limit_.load(std::memory_order_relaxed); }

 private:
  void SetLimit(double limit);
  void LearnGap(const FormingBatch& batch, uint64_t now_ns);

  const uint64_t objective_ns_;
  const uint64_t max_batch_size_;
  ExecutionCost cost_;
  double limit_ = 1;
  double spare_share_ = 1;    // the part of the spare time that is used; falls after late answers
  double gap_ns_;             // how long to wait for the next request
  uint32_t empty_holds_ = 0;  // successive holds that brought no request
  uint64_t no_hold_until_ns_ = 0;     // no batch is held back before this time
  std::optional<FormingBatch> held_;  // the batch as it was when it was first held back
  uint64_t held_since_ns_ = 0;
  std::atomic<uint64_t> published_limit_{1};
};

}  // namespace nereid::schedule
