// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <utility>

#include "config/sequence_batching.h"
#include "schedule/dynamic/batch_compatibility.h"
#include "schedule/sequence/ready_sequences.h"

namespace nereid::schedule {

/// The Direct strategy: the row of a sequence in a batch is its slot. A batch has the rows from 0
/// to the highest slot with a request; the others are padding. The request that has been ready for
/// longest is always in it, and says the shapes: a slot whose shapes differ waits for its turn.
class DirectSlots final : public ReadySequences {
 public:
  /// `compatibility` must outlive it.
  DirectSlots(const config::DirectStrategy& strategy, uint32_t slots,
              const BatchCompatibility& compatibility);

  void Add(Sequence& sequence, uint64_t now_ns) override;
  void Remove(Sequence& sequence) override;
  Pick Choose(uint64_t now_ns) override;
  uint64_t ReadyAt(uint64_t now_ns) override;

 private:
  struct Ready {
    Sequence* sequence;
    uint64_t since_ns;
  };
  /// Until when a batch that could be made is held back; `now_ns` if it is not.
  uint64_t HoldUntil(uint64_t now_ns, BatchReason* reason) const;
  bool CollectCancelled(Pick* pick);

  const uint32_t slots_;
  const uint64_t delay_ns_;
  const float utilization_;
  const BatchCompatibility& compatibility_;
  std::map<uint32_t, Ready> ready_;                 // by slot
  std::set<std::pair<uint64_t, uint32_t>> by_age_;  // ready since, slot
};

}  // namespace nereid::schedule
