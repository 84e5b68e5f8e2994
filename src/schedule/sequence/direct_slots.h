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
/// to the highest slot with a request; the other rows are padding. The request that has been ready
/// for longest is always in the batch and determines its shapes: a slot with other shapes waits for
/// a later batch.
class DirectSlots final : public ReadySequences {
 public:
  /// `slots` is the number of slots of the instance. `compatibility` must outlive this object.
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
  /// Returns the time until which a possible batch is held back, `now_ns` if it is not, and sets
  /// `reason` for a batch made at that time. ready_ must not be empty.
  uint64_t HoldUntil(uint64_t now_ns, BatchReason* reason) const;
  /// Moves the sequences whose first request is cancelled from ready_ to `pick`. Returns whether
  /// there were any.
  bool CollectCancelled(Pick* pick);

  const uint32_t slots_;
  const base::Duration delay_;
  const float utilization_;
  const BatchCompatibility& compatibility_;
  std::map<uint32_t, Ready> ready_;                 // by slot
  std::set<std::pair<uint64_t, uint32_t>> by_age_;  // ready since, slot
};

}  // namespace nereid::schedule
