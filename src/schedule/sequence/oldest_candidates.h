// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <unordered_map>

#include "schedule/dynamic/dynamic_planner.h"
#include "schedule/response_order.h"
#include "schedule/sequence/ready_sequences.h"

namespace nereid::schedule {

/// The Oldest strategy: the next requests of all sequences of the instance go through a dynamic
/// batcher of its own. One request of a sequence at most is in there, so a batch never has two.
class OldestCandidates final : public ReadySequences {
 public:
  /// `config` must outlive it.
  OldestCandidates(const config::ModelConfig& config, const config::OldestStrategy& strategy);

  void Add(Sequence& sequence, uint64_t now_ns) override;
  void Remove(Sequence& sequence) override;
  Pick Choose(uint64_t now_ns) override;
  uint64_t ReadyAt(uint64_t now_ns) override { return planner_.ReadyAt(now_ns, 0); }

 private:
  Sequence* TakeBack(RequestPtr request);

  DynamicPlanner planner_;
  std::shared_ptr<ResponseOrder> order_;                // null where order is not asked for
  std::unordered_map<uint64_t, Sequence*> candidates_;  // by handle
};

}  // namespace nereid::schedule
