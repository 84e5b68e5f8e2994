// SPDX-License-Identifier: Apache-2.0
#include "schedule/sequence/sequence_deadlines.h"

#include <algorithm>
#include <utility>

namespace nereid::schedule {

void SequenceDeadlines::Add(Sequence& sequence, const Sequence::Waiting& waiting,
                            uint64_t slot_until_ns) {
  const bool sooner = !sequence.has_slot() && slot_until_ns < sequence.backlog_until_ns;
  if (waiting.deadline_ns == kNever && !sooner) return;
  // The nodes are allocated first and linked when both exist.
  Entries request, slot_wait;
  if (waiting.deadline_ns != kNever) request.insert({waiting.deadline_ns, sequence.handle});
  if (sooner) slot_wait.insert({slot_until_ns, sequence.handle});
  requests_.merge(request);
  if (!sooner) return;
  ExtendSlotWait(sequence, kNever);
  slot_waits_.merge(slot_wait);
  sequence.backlog_until_ns = slot_until_ns;
}

void SequenceDeadlines::Suspend(const Sequence& sequence, Sequence::Waiting& waiting) {
  if (waiting.deadline_ns == kNever) return;
  // One entry only: other requests of the sequence may have the same deadline.
  waiting.deadline_entry =
      requests_.extract(requests_.find({waiting.deadline_ns, sequence.handle}));
}

void SequenceDeadlines::Remove(const Sequence& sequence, Sequence::Waiting& waiting) {
  Suspend(sequence, waiting);
  waiting.deadline_entry = {};
}

void SequenceDeadlines::Resume(Sequence::Waiting& waiting) {
  if (!waiting.deadline_entry.empty()) requests_.insert(std::move(waiting.deadline_entry));
}

void SequenceDeadlines::ExtendSlotWait(Sequence& sequence, uint64_t until_ns) {
  if (until_ns == sequence.backlog_until_ns) return;
  // There is an entry: the wait never becomes longer than kNever.
  auto entry = slot_waits_.extract(slot_waits_.find({sequence.backlog_until_ns, sequence.handle}));
  sequence.backlog_until_ns = until_ns;
  if (until_ns == kNever) return;
  entry.value().ns = until_ns;
  slot_waits_.insert(std::move(entry));
}

uint64_t SequenceDeadlines::Next(const SequenceTable& table) const {
  uint64_t next_ns = requests_.empty() ? kNever : requests_.begin()->ns;
  if (!slot_waits_.empty()) next_ns = std::min(next_ns, slot_waits_.begin()->ns);
  if (!table.idle().empty()) next_ns = std::min(next_ns, IdleEnd(table.idle().front()));
  return next_ns;
}

}  // namespace nereid::schedule
