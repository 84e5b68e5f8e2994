// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <vector>

#include "config/model_config.h"
#include "schedule/batch_planner.h"
#include "schedule/dynamic/batch_compatibility.h"

namespace nereid::schedule {

/// The dynamic batcher. When an instance is free it looks at the queue from its front and collects
/// requests while they are compatible and fit into max_batch_size. Then:
///  - the largest prefix whose size is a preferred one is run (or, if the next request jumps over
///    the largest preferred size, the prefix before it);
///  - if none is, and collecting stopped because the next request does not fit or is not
///    compatible, everything collected is run: waiting could not make the batch larger;
///  - if none is, and the oldest request has waited for the delay (or no delay is configured),
///    everything collected is run;
///  - otherwise it waits for more requests, at most until the delay of the oldest expires. A
///    preferred prefix whose oldest request has outwaited the delay does not hold the rest back.
/// A request is never split; its batch dimension counts.
class DynamicPlanner final : public BatchPlanner {
 public:
  /// The configuration must have dynamic batching options; it must outlive the planner.
  explicit DynamicPlanner(const config::ModelConfig& config);

  void Push(RequestPtr request, uint64_t now_ns) override;
  Decision Next(uint64_t now_ns) override;
  size_t size() const override { return queue_.size(); }

 private:
  struct Queued {
    RequestPtr request;
    uint64_t arrival_ns;
  };
  struct Prefix {
    size_t requests = 0;
    bool closed = false;  // something stands behind it that cannot join
    BatchReason closed_reason = BatchReason::kFull;
    size_t best_requests = 0;  // the longest prefix of a preferred size, or, where the sizes jump
                               // over the largest preferred one, the longest below it; 0 = none
    BatchReason best_reason = BatchReason::kPreferred;
  };

  Prefix Collect() const;
  bool IsPreferred(uint64_t size) const;
  Batch Take(size_t count, BatchReason reason);

  const uint64_t max_batch_size_;
  const uint64_t delay_ns_;
  std::vector<uint64_t> preferred_;
  uint64_t largest_preferred_ = 0;
  BatchCompatibility compatibility_;
  std::deque<Queued> queue_;
};

}  // namespace nereid::schedule
