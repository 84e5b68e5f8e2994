// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "schedule/sequence/sequence.h"

namespace nereid::schedule {

/// The live sequences of a model, by id and by handle, and the slots of its instances. A sequence
/// has one slot or waits in the backlog, and a slot has one sequence at most; which is freed is
/// said by the sequence, so none can be freed twice. Everything takes logarithmic time at most, and
/// memory in proportion to the largest number of sequences that there were at a time, however many
/// slots an instance has. Not thread-safe.
class SequenceTable {
 public:
  using List = std::list<Sequence>;

  SequenceTable() = default;
  SequenceTable(const SequenceTable&) = delete;
  SequenceTable& operator=(const SequenceTable&) = delete;

  /// Makes a sequence, which is closed at once if its id is internal. It gets the free slot with
  /// the lowest number, of instances with the same the one that was added first; or it goes to the
  /// end of the backlog. If a closed sequence with the id is alive still, it becomes that one's
  /// successor; an open one there must not be.
  Sequence& Begin(request::CorrelationId id, bool internal, uint64_t now_ns);

  /// The sequence that requests with this id join; null if there is none.
  Sequence* FindOpen(const request::CorrelationId& id);
  /// Whether a live sequence has it, open or closed.
  bool IsLive(const request::CorrelationId& id) const { return latest_.contains(id); }
  /// Null once the sequence is over.
  Sequence* Find(uint64_t handle);

  /// No further request joins: its id is free for another sequence.
  void Close(Sequence& sequence) { sequence.open = false; }
  /// Forgets it, and frees its slot. Returns the successor if that has no predecessor now, or null.
  /// The caller calls TakeFromBacklog then.
  Sequence* Remove(Sequence& sequence);
  /// Gives a free slot to the sequence that has been in the backlog for longest. Null if there is
  /// no free slot or nothing in the backlog.
  Sequence* TakeFromBacklog();
  /// Whether it has nothing to do; becomes the last of that list.
  void SetIdle(Sequence& sequence, bool idle);

  void AddInstance(InstanceId instance, uint32_t slots);
  /// It gets no sequence any more.
  void RetireInstance(InstanceId instance);
  /// Slots of this instance that have a sequence.
  size_t SlotsInUse(InstanceId instance) const;

  List& backlog() { return backlog_; }
  List& active() { return active_; }
  List& idle() { return idle_; }  // longest idle first
  const List& backlog() const { return backlog_; }
  const List& active() const { return active_; }
  const List& idle() const { return idle_; }
  size_t slots() const { return slots_; }  // of instances that take sequences
  size_t free_slots() const { return slots_ - slots_in_use_; }

 private:
  struct Instance {
    uint32_t slots = 0;
    uint32_t touched = 0;  // slots below this have had a sequence
    size_t in_use = 0;
    bool retired = false;
  };

  List& ListOf(Sequence::Standing standing);
  void MoveTo(Sequence& sequence, Sequence::Standing standing);
  void GiveSlot(Sequence& sequence);
  /// Lists the first slot that has never had a sequence as a free one.
  void ListUntouched(InstanceId id, const Instance& instance);
  void ForgetId(Sequence& sequence);

  List backlog_, active_, idle_;
  // The latest live one with each id. Ordered: no choice of ids makes it slow.
  std::map<request::CorrelationId, Sequence*> latest_;
  std::unordered_map<uint64_t, List::iterator> by_handle_;
  std::map<InstanceId, Instance> instances_;
  // Slot, instance: in the order of assignment. Of the slots of an instance that have never had a
  // sequence only the first is here.
  std::set<std::pair<uint32_t, InstanceId>> free_;
  size_t slots_ = 0;
  size_t slots_in_use_ = 0;  // of instances that take sequences
  uint64_t next_handle_ = 1;
};

}  // namespace nereid::schedule
