// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/sequence/sequence.h"

namespace nereid::schedule {

/// The sequences of one instance whose next request may be handed out: a strategy's way of making
/// batches of them. Not thread-safe.
class ReadySequences {
 public:
  struct Pick {
    /// The batch, in order; what is handed out is the first request of each queue. Null: a padding
    /// row. Nothing in here is offered any more. Empty: nothing before wake_ns.
    std::vector<Sequence*> rows;
    BatchReason reason = BatchReason::kSingle;
    uint64_t wake_ns = kNever;
    uint64_t oldest_ns = kNever;  // when the first request of the batch became ready
    /// Its request is cancelled, so it was not picked, and is not offered any more. With any of
    /// these there may be no rows although a batch could be made: pick again.
    std::vector<Sequence*> cancelled;
  };

  virtual ~ReadySequences() = default;

  /// The first request of its queue may be handed out from now on.
  virtual void Add(Sequence& sequence, uint64_t now_ns) = 0;
  /// Not any more. All its requests are in its queue then.
  virtual void Remove(Sequence& sequence) = 0;
  virtual Pick Choose(uint64_t now_ns) = 0;
  /// When Choose would give rows if nothing else happens; see BatchPlanner::ReadyAt.
  virtual uint64_t ReadyAt(uint64_t now_ns) = 0;
};

}  // namespace nereid::schedule
