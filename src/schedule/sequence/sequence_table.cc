// SPDX-License-Identifier: Apache-2.0
#include "schedule/sequence/sequence_table.h"

#include <iterator>
#include <utility>

namespace nereid::schedule {

std::string_view SequenceEndLabel(SequenceEnd end) {
  constexpr std::array<std::string_view, kSequenceEndCount> kLabels = {
      "end", "idle", "cancelled", "timeout", "failed", "unload"};
  return kLabels[static_cast<size_t>(end)];
}

SequenceTable::List& SequenceTable::ListOf(Sequence::Standing standing) {
  if (standing == Sequence::Standing::kBacklog) return backlog_;
  return standing == Sequence::Standing::kActive ? active_ : idle_;
}

void SequenceTable::MoveTo(Sequence& sequence, Sequence::Standing standing) {
  List& target = ListOf(standing);
  target.splice(target.end(), ListOf(sequence.standing), by_handle_.at(sequence.handle));
  sequence.standing = standing;
}

// `free_` must not be empty. Using the first slot that was never used makes the next one available.
void SequenceTable::GiveSlot(Sequence& sequence) {
  const auto first = free_.begin();
  sequence.slot = first->first;
  sequence.instance = first->second;
  free_.erase(first);
  Instance& instance = instances_.at(sequence.instance);
  ++instance.in_use;
  ++slots_in_use_;
  if (sequence.slot == instance.touched) {
    ++instance.touched;
    ListUntouched(sequence.instance, instance);
  }
  MoveTo(sequence, Sequence::Standing::kActive);
}

void SequenceTable::ListUntouched(InstanceId id, const Instance& instance) {
  if (instance.touched < instance.slots) free_.emplace(instance.touched, id);
}

Sequence& SequenceTable::Begin(request::CorrelationId id, bool internal, uint64_t now_ns) {
  Sequence& sequence = backlog_.emplace_back();
  sequence.handle = next_handle_++;
  sequence.id = std::move(id);
  sequence.internal = internal;
  sequence.open = !internal;
  sequence.begin_ns = now_ns;
  sequence.touched_ns = now_ns;
  by_handle_.emplace(sequence.handle, std::prev(backlog_.end()));
  Sequence*& latest = latest_[sequence.id];
  sequence.predecessor = latest;
  if (latest != nullptr) latest->successor = &sequence;
  latest = &sequence;
  // A free slot means that the backlog was empty (the planner fills slots at once), so no sequence
  // is overtaken.
  if (!free_.empty()) GiveSlot(sequence);
  return sequence;
}

Sequence* SequenceTable::FindOpen(const request::CorrelationId& id) {
  const auto found = latest_.find(id);
  return found == latest_.end() || !found->second->open ? nullptr : found->second;
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
  if (sequence.predecessor != nullptr) {
    latest_[sequence.id] = sequence.predecessor;
  } else {
    latest_.erase(sequence.id);
  }
}

Sequence* SequenceTable::Remove(Sequence& sequence) {
  ForgetId(sequence);
  Sequence* const unblocked = sequence.predecessor == nullptr ? sequence.successor : nullptr;
  if (sequence.standing != Sequence::Standing::kBacklog) {
    Instance& instance = instances_.at(sequence.instance);
    --instance.in_use;
    // A slot of a retired instance is not free for other sequences.
    if (!instance.retired) {
      --slots_in_use_;
      free_.emplace(sequence.slot, sequence.instance);
    } else if (instance.in_use == 0) {
      instances_.erase(sequence.instance);
    }
  }
  const auto found = by_handle_.find(sequence.handle);
  const List::iterator position = found->second;
  by_handle_.erase(found);
  ListOf(sequence.standing).erase(position);
  return unblocked;
}

Sequence* SequenceTable::TakeFromBacklog() {
  if (free_.empty() || backlog_.empty()) return nullptr;
  Sequence& sequence = backlog_.front();
  GiveSlot(sequence);
  return &sequence;
}

void SequenceTable::SetIdle(Sequence& sequence, bool idle) {
  MoveTo(sequence, idle ? Sequence::Standing::kIdle : Sequence::Standing::kActive);
}

void SequenceTable::AddInstance(InstanceId instance, uint32_t slots) {
  Instance& added = instances_[instance];
  added.slots = slots;
  slots_ += slots;
  ListUntouched(instance, added);
}

void SequenceTable::RetireInstance(InstanceId id) {
  const auto found = instances_.find(id);
  if (found == instances_.end() || found->second.retired) return;
  Instance& instance = found->second;
  instance.retired = true;
  slots_ -= instance.slots;
  slots_in_use_ -= instance.in_use;
  for (uint32_t slot = 0; slot <= instance.touched; ++slot) free_.erase({slot, id});
  if (instance.in_use == 0) instances_.erase(found);
}

size_t SequenceTable::SlotsInUse(InstanceId instance) const {
  const auto found = instances_.find(instance);
  return found == instances_.end() ? 0 : found->second.in_use;
}

}  // namespace nereid::schedule
