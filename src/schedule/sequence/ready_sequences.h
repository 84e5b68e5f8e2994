// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/sequence/sequence.h"

namespace nereid::schedule {

/// The sequences of one instance whose next request may be handed out, and a strategy (Direct or
/// Oldest) that makes batches of them. A function that throws std::bad_alloc has changed nothing.
/// Not thread-safe.
class ReadySequences {
 public:
  struct Pick {
    /// The rows of the batch, in order: the first request of each sequence's queue. Null: a padding
    /// row. These sequences are removed from the ready ones. Empty: no batch before wake_ns.
    std::vector<Sequence*> rows;
    /// As many null pointers as `rows` has elements: memory for the requests, so that the caller
    /// can take them out of their queues without allocating.
    std::vector<RequestPtr> requests;
    BatchReason reason = BatchReason::kSingle;
    uint64_t wake_ns = kNever;
    uint64_t oldest_ns = kNever;  // when the first request of the batch became ready
    /// Sequences whose first request is cancelled. They are removed from the ready ones. If there
    /// are any, `rows` may be empty although a batch is possible: the caller must choose again.
    std::vector<Sequence*> cancelled;
  };

  virtual ~ReadySequences() = default;

  /// Makes the first request of the sequence's queue available to Choose.
  virtual void Add(Sequence& sequence, uint64_t now_ns) = 0;
  /// Withdraws the sequence. All its requests are in its queue afterwards. Does not throw.
  virtual void Remove(Sequence& sequence) = 0;
  /// Returns the batch that should run at `now_ns`, or when to ask again.
  virtual Pick Choose(uint64_t now_ns) = 0;
  /// Returns when Choose will give rows if no other event comes; see BatchPlanner::ReadyAt.
  virtual uint64_t ReadyAt(uint64_t now_ns) = 0;
};

}  // namespace nereid::schedule
