// SPDX-License-Identifier: Apache-2.0
#include "schedule/sequence/sequence_table.h"

#include <cassert>
#include <iterator>
#include <tuple>
#include <utility>

namespace nereid::schedule {

std::string_view SequenceEndLabel(SequenceEnd end) {
  constexpr std::array<std::string_view, kSequenceEndCount> kLabels = {
      "end", "idle", "cancelled", "timeout", "failed", "unload", "handover"};
  return kLabels[static_cast<size_t>(end)];
}

SequenceTable::List& SequenceTable::ListOf(SequencePhase phase) {
  if (phase == SequencePhase::kBacklog) return backlog_;
  return phase == SequencePhase::kIdle ? idle_ : active_;
}

void SequenceTable::Move(Sequence& sequence, SequencePhase to) {
  assert(IsLegalTransition(sequence.phase, to));
  List& source = ListOf(sequence.phase);
  List& target = ListOf(to);
  // Within the active list a sequence keeps its place.
  if (&source != &target) {
    List::iterator place = target.end();
    // A sequence from another server may have been idle for longer than those that are idle here.
    while (to == SequencePhase::kIdle && place != target.begin() &&
           std::prev(place)->touched_ns > sequence.touched_ns) {
      --place;
    }
    target.splice(place, source, by_handle_.at(sequence.handle));
  }
  sequence.phase = to;
}

void SequenceTable::MoveToFront(Sequence& sequence) {
  active_.splice(active_.begin(), active_, by_handle_.at(sequence.handle));
}

// Nodes move between the sets and the sequence, so that nothing is allocated here: a sequence that
// gives its slot back has the node for it.
void SequenceTable::GiveSlot(Sequence& sequence) {
  const bool reused = FirstIsReused();
  if (reused) sequence.slot_entry = free_.extract(free_.begin());
  Slots::node_type next = reused ? Slots::node_type() : unused_.extract(unused_.begin());
  if (!reused) sequence.slot_entry.value() = next.value();
  std::tie(sequence.slot, sequence.instance) = sequence.slot_entry.value();
  Instance& instance = instances_.at(sequence.instance);
  ++instance.in_use;
  ++slots_in_use_;
  if (!reused) {
    instance.used_below = sequence.slot + 1;
    next.value().first = instance.used_below;
    if (instance.used_below < instance.slots) unused_.insert(std::move(next));
  }
  Move(sequence, SequencePhase::kPending);
}

Sequence& SequenceTable::Begin(const request::CorrelationId& id, bool internal, uint64_t now_ns) {
  List begun;
  Sequence& sequence = begun.emplace_back();
  sequence.handle = next_handle_;
  sequence.id = id;
  sequence.internal = internal;
  sequence.intake = internal ? SequenceIntake::kClosed : SequenceIntake::kOpen;
  sequence.begin_ns = now_ns;
  sequence.touched_ns = now_ns;
  // A slot that has had a sequence comes with its entry.
  if (!FirstIsReused()) {
    Slots entry = {{0, 0}};
    sequence.slot_entry = entry.extract(entry.begin());
  }
  const auto known = by_handle_.emplace(sequence.handle, begun.begin()).first;
  std::map<request::CorrelationId, Sequence*>::iterator latest;
  try {
    latest = latest_.try_emplace(sequence.id, nullptr).first;
  } catch (...) {
    by_handle_.erase(known);
    throw;
  }
  // Nothing below allocates.
  ++next_handle_;
  backlog_.splice(backlog_.end(), begun);
  sequence.predecessor = std::exchange(latest->second, &sequence);
  if (sequence.predecessor != nullptr) sequence.predecessor->successor = &sequence;
  // A free slot means that the backlog was empty (the lifecycle fills slots at once), so no
  // sequence is overtaken.
  if (HasFreeSlot()) GiveSlot(sequence);
  return sequence;
}

Sequence* SequenceTable::FindOpen(const request::CorrelationId& id) {
  const auto found = latest_.find(id);
  return found == latest_.end() || !found->second->is_open() ? nullptr : found->second;
}

bool SequenceTable::IsOpen(const request::CorrelationId& id) const {
  const auto found = latest_.find(id);
  return found != latest_.end() && found->second->is_open();
}

Sequence* SequenceTable::Find(uint64_t handle) {
  const auto found = by_handle_.find(handle);
  return found == by_handle_.end() ? nullptr : &*found->second;
}

void SequenceTable::ForgetId(Sequence& sequence) {
  // latest_ leads to the last sequence of the chain; only its removal changes the map.
  if (sequence.predecessor != nullptr) sequence.predecessor->successor = sequence.successor;
  if (sequence.successor != nullptr) {
    sequence.successor->predecessor = sequence.predecessor;
    return;
  }
  const auto latest = latest_.find(sequence.id);
  if (sequence.predecessor != nullptr) {
    latest->second = sequence.predecessor;
  } else {
    latest_.erase(latest);
  }
}

Sequence* SequenceTable::Remove(Sequence& sequence) {
  assert(MayBeRemoved(sequence.phase));
  ForgetId(sequence);
  Sequence* const unblocked = sequence.predecessor == nullptr ? sequence.successor : nullptr;
  if (sequence.has_slot()) {
    const auto found = instances_.find(sequence.instance);
    Instance& instance = found->second;
    --instance.in_use;
    // A slot of a retired instance is not free for other sequences.
    if (!instance.retired) {
      --slots_in_use_;
      free_.insert(std::move(sequence.slot_entry));
    } else if (instance.in_use == 0) {
      instances_.erase(found);
    }
  }
  const auto found = by_handle_.find(sequence.handle);
  const List::iterator position = found->second;
  by_handle_.erase(found);
  ListOf(sequence.phase).erase(position);
  return unblocked;
}

Sequence* SequenceTable::TakeFromBacklog() {
  if (!HasFreeSlot() || backlog_.empty()) return nullptr;
  Sequence& sequence = backlog_.front();
  GiveSlot(sequence);
  return &sequence;
}

void SequenceTable::AddInstance(InstanceId instance, uint32_t slots) {
  Slots entry;
  if (slots > 0) entry.emplace(0, instance);
  instances_[instance].slots = slots;  // the last step that allocates
  slots_ += slots;
  unused_.merge(entry);
}

void SequenceTable::RetireInstance(InstanceId id) {
  const auto found = instances_.find(id);
  if (found == instances_.end() || found->second.retired) return;
  Instance& instance = found->second;
  instance.retired = true;
  slots_ -= instance.slots;
  slots_in_use_ -= instance.in_use;
  for (uint32_t slot = 0; slot < instance.used_below; ++slot) free_.erase({slot, id});
  unused_.erase({instance.used_below, id});
  if (instance.in_use == 0) instances_.erase(found);
}

size_t SequenceTable::SlotsInUse(InstanceId instance) const {
  const auto found = instances_.find(instance);
  return found == instances_.end() ? 0 : found->second.in_use;
}

}  // namespace nereid::schedule
