// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "schedule/adaptive/batch_limits.h"
#include "schedule/adaptive/execution_cost.h"

namespace nereid::schedule {

/// The rules of dynamic batching towards a latency objective:
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
/// Time is a parameter. Not thread-safe.
class ObjectiveRules final : public BatchLimits {
 public:
  ObjectiveRules(uint64_t objective_ns, uint64_t max_batch_size);

  uint64_t SizeLimit(uint64_t oldest_ns, uint64_t now_ns) const override;
  uint64_t WaitUntil(const FormingBatch& batch, uint64_t now_ns) override;
  void OnTaken(const FormingBatch& batch, uint64_t now_ns) override;
  void OnExecuted(uint64_t size, uint64_t wait_ns, uint64_t execution_ns, uint64_t now_ns) override;

  /// Returns the limit that applies while requests wait no longer than the objective.
  uint64_t size_limit() const override { return static_cast<uint64_t>(limit_); }

 private:
  void SetLimit(double limit);
  void LearnGap(const FormingBatch& batch, uint64_t now_ns);

  const uint64_t objective_ns_;
  const uint64_t max_batch_size_;
  ExecutionCost cost_;
  double limit_ = 1;
  double spare_share_ = 1;  // the part of the spare time that is used; falls after late answers
  // How long to wait for the next request: as long as an execution takes, twice as long after each
  // wait in vain, until a wait has brought a request.
  double gap_ns_ = 0;
  bool gap_known_ = false;
  uint32_t empty_holds_ = 0;          // successive holds that brought no request
  uint64_t no_hold_until_ns_ = 0;     // no batch is held back before this time
  std::optional<FormingBatch> held_;  // the batch as it was when it was first held back
  uint64_t held_since_ns_ = 0;
};

}  // namespace nereid::schedule
