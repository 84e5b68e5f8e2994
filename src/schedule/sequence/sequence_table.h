// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <set>
#include <unordered_map>

#include "schedule/sequence/sequence.h"

namespace nereid::schedule {

/// The live sequences of a model, by id and by handle, and the slots of its instances. A sequence
/// has one slot or waits in the backlog; a slot has at most one sequence. The slot to free is taken
/// from the sequence itself, so no slot is freed twice. Every operation takes at most logarithmic
/// time in the number of sequences and instances (RetireInstance: in the used slots). Memory is
/// proportional to the largest number of sequences that existed at a time, not to the number of
/// slots. Only Begin and AddInstance allocate; if they throw std::bad_alloc, nothing has changed.
/// Not thread-safe.
class SequenceTable {
 public:
  using List = std::list<Sequence>;

  SequenceTable() = default;
  SequenceTable(const SequenceTable&) = delete;
  SequenceTable& operator=(const SequenceTable&) = delete;

  /// Creates a sequence, which is closed at once if `internal`. It gets the free slot with the
  /// lowest number (of equal ones that of the instance added first), or goes to the end of the
  /// backlog. If a closed sequence with the same id is alive, the new one becomes its successor. No
  /// open sequence with the id may exist.
  Sequence& Begin(const request::CorrelationId& id, bool internal, uint64_t now_ns);

  /// Returns the sequence that requests with this id join, or null.
  Sequence* FindOpen(const request::CorrelationId& id);
  /// Returns whether there is a sequence that requests with this id join.
  bool IsOpen(const request::CorrelationId& id) const;
  /// Returns whether a live sequence, open or closed, has this id.
  bool IsLive(const request::CorrelationId& id) const { return latest_.contains(id); }
  /// Returns the sequence, or null if it has ended.
  Sequence* Find(uint64_t handle);

  /// Changes the phase, which must be a legal transition. A sequence that becomes active or idle
  /// goes to the end of that list.
  void Move(Sequence& sequence, SequencePhase to);
  /// Moves an active sequence to the front of the active list.
  void MoveToFront(Sequence& sequence);
  /// Destroys the sequence and frees its slot. Returns the successor if it has no predecessor left,
  /// else null. The caller must call TakeFromBacklog afterwards.
  Sequence* Remove(Sequence& sequence);
  /// Gives a free slot to the oldest sequence of the backlog and returns it. Returns null if there
  /// is no free slot or the backlog is empty.
  Sequence* TakeFromBacklog();

  void AddInstance(InstanceId instance, uint32_t slots);
  /// Stops giving sequences to the instance; those in its slots stay.
  void RetireInstance(InstanceId instance);
  /// Returns the number of slots of the instance that have a sequence.
  size_t SlotsInUse(InstanceId instance) const;

  List& backlog() { return backlog_; }
  List& active() { return active_; }  // the phases kPending, kReady and kRunning
  List& idle() { return idle_; }      // longest idle first
  const List& backlog() const { return backlog_; }
  const List& active() const { return active_; }
  const List& idle() const { return idle_; }
  size_t slots() const { return slots_; }  // of instances that are not retired
  size_t free_slots() const { return slots_ - slots_in_use_; }

 private:
  using Slots = std::set<Sequence::Slot>;
  struct Instance {
    uint32_t slots = 0;
    uint32_t used_below = 0;  // slots below this one have had a sequence
    size_t in_use = 0;
    bool retired = false;
  };

  List& ListOf(SequencePhase phase);
  bool HasFreeSlot() const { return !free_.empty() || !unused_.empty(); }
  /// Returns whether the first free slot has had a sequence.
  bool FirstIsReused() const {
    return !free_.empty() && (unused_.empty() || *free_.begin() < *unused_.begin());
  }
  /// Gives the first free slot to a sequence of the backlog. There must be one.
  void GiveSlot(Sequence& sequence);
  /// Removes the sequence from the chain of sequences with its id.
  void ForgetId(Sequence& sequence);

  List backlog_, active_, idle_;
  // The latest live sequence with each id. An ordered map, so no choice of ids makes look-ups slow.
  std::map<request::CorrelationId, Sequence*> latest_;
  std::unordered_map<uint64_t, List::iterator> by_handle_;
  std::map<InstanceId, Instance> instances_;
  // Free slots, in the order in which they are given out: those that have had a sequence, and of
  // each instance the first one that has not.
  Slots free_;
  Slots unused_;
  size_t slots_ = 0;
  size_t slots_in_use_ = 0;  // of instances that are not retired
  uint64_t next_handle_ = 1;
};

}  // namespace nereid::schedule
