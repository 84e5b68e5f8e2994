// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <unordered_map>

#include "schedule/dynamic/dynamic_planner.h"
#include "schedule/response_order.h"
#include "schedule/sequence/ready_sequences.h"

namespace nereid::schedule {

/// The Oldest strategy: the next requests of all sequences of an instance go through a dynamic
/// batcher of that instance. At most one request of a sequence is a candidate at a time, so a batch
/// never has two requests of one sequence.
class OldestCandidates final : public ReadySequences {
 public:
  /// `config` must outlive this object.
  OldestCandidates(const config::ModelConfig& config, const config::OldestStrategy& strategy);

  void Add(Sequence& sequence, uint64_t now_ns) override;
  void Remove(Sequence& sequence) override;
  Pick Choose(uint64_t now_ns) override;
  uint64_t ReadyAt(uint64_t now_ns) override { return planner_.ReadyAt(now_ns, 0); }

 private:
  /// Returns a candidate's request to the front of its sequence's queue, and the sequence.
  Sequence* TakeBack(RequestPtr request);

  const size_t max_batch_size_;
  DynamicPlanner planner_;
  std::shared_ptr<ResponseOrder> order_;                // null where order is not configured
  std::unordered_map<uint64_t, Sequence*> candidates_;  // by handle
};

}  // namespace nereid::schedule
