// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "config/model_config.h"
#include "schedule/batch_planner.h"
#include "schedule/sequence/instance_strategies.h"
#include "schedule/sequence/sequence_deadlines.h"
#include "schedule/sequence/sequence_table.h"

namespace nereid::schedule {

/// Moves the sequences of a model through their phases (SequencePhase): queues their requests,
/// offers the first one to the strategy of the instance, hands it out, and ends the sequence. The
/// rules are those of SequencePlanner, which says when each of these steps is taken.
///
/// Memory: Append and AddInstance throw std::bad_alloc and change nothing then. Every other
/// function does its work without memory. Where a sequence cannot be offered because an allocation
/// failed, the sequence is aborted later, by TakeRefused, and its requests are refused.
///
/// A function that takes a Sequence& may remove it, unless it says otherwise: the caller must not
/// use the reference afterwards. Not thread-safe.
class SequenceLifecycle {
 public:
  /// `config` has sequence batching options and must outlive this object.
  explicit SequenceLifecycle(const config::ModelConfig& config);

  // ---- Requests ----

  /// Adds a request that has arrived to the end of the sequence's queue and takes it from the
  /// caller. Does not offer or remove the sequence.
  void Append(Sequence& sequence, RequestPtr& request, uint64_t now_ns);
  /// Offers the sequence's first request to its instance, if the sequence is pending and has no
  /// predecessor. Does not remove the sequence.
  void Offer(Sequence& sequence, uint64_t now_ns);
  /// Takes the first request from a sequence that the strategy has picked. Does not remove the
  /// sequence.
  RequestPtr HandOut(Sequence& sequence);
  /// Continues a sequence whose request was released: offers the next one, makes the sequence idle,
  /// or ends it.
  void Release(Sequence& sequence, uint64_t now_ns);
  /// Queues the request that was released to be executed again, in front of the others.
  void Requeue(Sequence& sequence, RequestPtr request, uint64_t now_ns);

  // ---- Ends ----

  /// Closes the sequence for further requests, so that another sequence may begin with its id. Does
  /// not remove the sequence.
  void Close(Sequence& sequence);
  /// Refuses the requests that are cancelled or past their deadline, and all before them. If a
  /// START follows, the sequence begins again with it; otherwise the sequence is aborted.
  void DropCancelled(Sequence& sequence, uint64_t now_ns);
  /// Refuses all waiting requests and ends the sequence: at once, or when its running request is
  /// released.
  void Abort(Sequence& sequence, SequenceEnd end, RefusalCause cause, uint64_t now_ns);
  /// Aborts all sequences, without notices, because the model has no instance any more.
  void AbortAll();
  /// From now on an open sequence ends when no request of it waits. Ends the idle ones.
  void Drain(uint64_t now_ns);
  /// Moves the refused requests to `refused`. Throws std::bad_alloc when memory is short; the rest
  /// is moved by the next call then.
  void TakeRefused(uint64_t now_ns, std::vector<Refusal>* refused) {
    if (starved_ || !refused_.empty()) MoveRefused(now_ns, refused);
  }
  /// Returns one refused request, or null.
  RequestPtr TakeOneRefused();

  // ---- Instances ----

  void AddInstance(InstanceId instance, uint64_t now_ns);
  InstanceStrategies& strategies() { return strategies_; }

  SequenceTable& table() { return table_; }
  const SequenceTable& table() const { return table_; }
  const SequenceDeadlines& deadlines() const { return deadlines_; }
  /// Returns the number of requests that are not handed out, refused ones not counted.
  size_t waiting() const { return waiting_; }
  const SequenceEndCounts& ended() const { return ended_; }

 private:
  /// Reverses Offer; does nothing for a sequence that is not ready.
  void Withdraw(Sequence& sequence);
  /// Moves the requests before `until` to refused_.
  void Refuse(Sequence& sequence, Sequence::Queue::iterator until, RefusalCause cause);
  /// Removes the sequence from the table, or queues the notice of its end first. Offers its
  /// successor and fills its slot from the backlog.
  void End(Sequence& sequence, uint64_t now_ns);
  /// Queues the notice of the end. Returns false if the model does not want it, the sequence needs
  /// none, or it cannot be made.
  bool Notify(Sequence& sequence, uint64_t now_ns);
  /// Gives free slots to sequences of the backlog.
  void FillSlots(uint64_t now_ns);
  /// Aborts the sequences that could not be offered for want of memory, and does the work of
  /// TakeRefused.
  void MoveRefused(uint64_t now_ns, std::vector<Refusal>* refused);

  const config::ModelConfig& config_;
  const bool notices_;

  SequenceTable table_;
  SequenceDeadlines deadlines_;
  InstanceStrategies strategies_;
  Sequence::Queue refused_;  // requests that left their sequences and are not answered
  SequenceEndCounts ended_{};
  size_t waiting_ = 0;
  bool starved_ = false;  // an Offer has failed: there are pending sequences that nothing offers
  bool draining_ = false;
};

}  // namespace nereid::schedule
