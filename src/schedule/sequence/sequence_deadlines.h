// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>

#include "schedule/sequence/sequence_table.h"

namespace nereid::schedule {

/// The times at which sequences lose requests or end: the clients' deadlines of waiting requests,
/// the ends of waits for a slot, and the ends of idle times. Only Add allocates. Not thread-safe.
class SequenceDeadlines {
 public:
  /// `idle` is the time after which an idle sequence ends.
  explicit SequenceDeadlines(base::Duration idle) : idle_(idle) {}

  /// Registers a request that joins the sequence: its client's deadline and, in the backlog, the
  /// time until which the request may wait for a slot. Changes nothing if it throws std::bad_alloc.
  void Add(Sequence& sequence, const Sequence::Waiting& waiting, uint64_t slot_until_ns);
  /// Removes the client's deadline of a request, which leaves the queue for good.
  void Remove(const Sequence& sequence, Sequence::Waiting& waiting);
  /// Removes the client's deadline of a request that is handed out, and keeps its entry there.
  void Suspend(const Sequence& sequence, Sequence::Waiting& waiting);
  /// Registers the deadline of a suspended request again.
  void Resume(Sequence::Waiting& waiting);

  /// Sets the end of the wait for a slot to a later time than before; kNever: no end.
  void ExtendSlotWait(Sequence& sequence, uint64_t until_ns);

  /// Returns the handle of a sequence with a request whose client's deadline has passed; 0: none.
  uint64_t DueRequest(uint64_t now_ns) const { return Due(requests_, now_ns); }
  /// Returns the handle of a sequence that has waited for a slot for too long; 0: none.
  uint64_t DueSlotWait(uint64_t now_ns) const { return Due(slot_waits_, now_ns); }
  /// Returns when a sequence ends that has been idle since its last request or release.
  uint64_t IdleEnd(const Sequence& sequence) const { return idle_.After(sequence.touched_ns); }
  /// Returns when a sequence whose last request was queued at `queued_ns` is too old to have that
  /// request rescheduled.
  uint64_t RescheduleEnd(uint64_t queued_ns) const { return idle_.After(queued_ns); }
  /// Returns the earliest of all times, or kNever. `table` has the sequences.
  uint64_t Next(const SequenceTable& table) const;

 private:
  using Entries = std::multiset<SequenceDeadline>;

  static uint64_t Due(const Entries& entries, uint64_t now_ns) {
    return entries.empty() || entries.begin()->ns > now_ns ? 0 : entries.begin()->handle;
  }

  const base::Duration idle_;
  Entries requests_;    // one entry for each waiting request that has a client's deadline
  Entries slot_waits_;  // one entry for each sequence in the backlog whose wait has an end
};

}  // namespace nereid::schedule
