// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "config/model_config.h"
#include "request/sequence_inputs.h"
#include "schedule/batch_planner.h"
#include "schedule/dynamic/batch_compatibility.h"
#include "schedule/sequence/ready_sequences.h"
#include "schedule/sequence/sequence_table.h"
#include "schedule/start_gate.h"

namespace nereid::schedule {

/// The sequence batcher, for all instances of a model. Both strategies share these rules:
///  - A sequence has one slot of one instance from its START to its end, or it waits in the
///    backlog. The oldest sequence of the backlog takes the first slot that becomes free.
///  - The requests of a sequence are executed in order of arrival. The next one is handed out after
///    the previous one was released.
///  - END closes the sequence for further requests at once. The sequence ends when that request is
///    released; only then a new sequence with the same id can be executed.
///  - A sequence without requests ends after max_sequence_idle_microseconds.
///  - If a waiting request is cancelled or misses its client's deadline, that request and those
///    before it are refused. If a START follows in the queue, the sequence begins again with it;
///    otherwise the whole queue is refused and the sequence ends.
///  - A sequence of a model with iterative_sequence is closed when one of its requests is released
///    for good. It ends as idle if an execution takes longer than the idle time and asks to be
///    rescheduled.
///
/// The strategy (DirectSlots or OldestCandidates, one object per instance) selects which of the
/// ready requests make a batch.
class SequencePlanner final : public BatchPlanner {
 public:
  /// Creates a planner for a configuration with sequence batching options, which must outlive it.
  /// `inputs` supplies the controls and states of the requests; null for a planner that only plans.
  SequencePlanner(const config::ModelConfig& config,
                  std::shared_ptr<const request::SequenceInputs> inputs);
  ~SequencePlanner() override;

  base::Status Push(RequestPtr& request, uint64_t now_ns) override;
  Decision Next(uint64_t now_ns, InstanceId instance) override;
  uint64_t ReadyAt(uint64_t now_ns, InstanceId instance) override;
  void Expire(uint64_t now_ns, std::vector<Refusal>* refused) override;
  uint64_t NextExpiry() const override;
  void DropCancelled(uint64_t now_ns, std::vector<Refusal>* refused) override;
  /// Sets the conditions for the first batch. Must be called before the first Push.
  void SetStartConditions(StartConditions conditions) { gate_ = StartGate(conditions); }

  void DropAll(const base::Status& error, std::vector<Refusal>* refused) override;
  size_t size() const override { return waiting_; }

  bool IsPerInstance() const override { return true; }
  void AddInstance(InstanceId instance, uint64_t now_ns) override;
  void RetireInstance(InstanceId instance) override;
  void RemoveInstance(InstanceId instance) override;
  bool IsVacant(InstanceId instance) const override;
  void Drain(uint64_t now_ns, std::vector<Refusal>* refused) override;
  void OnReleased(request::InferenceRequest& request, uint64_t now_ns) override;
  base::Status CheckReschedule(const request::InferenceRequest& request, uint64_t now_ns) override;
  void Reschedule(RequestPtr request, uint64_t now_ns, std::vector<Refusal>* refused) override;
  void OnFailed(request::InferenceRequest& request, uint64_t now_ns,
                std::vector<Refusal>* refused) override;
  std::optional<telemetry::SequenceStatistics> CountSequences() const override;
  telemetry::SequenceList ListSequences(
      size_t most, uint64_t now_ns,
      const std::function<std::string(InstanceId)>& name_of) const override;
  void Complete(Batch* batch, std::vector<Refusal>* failed) const override;

  const SequenceTable& table() const { return table_; }
  /// Returns how many sequences have ended, indexed by SequenceEnd.
  const std::array<uint64_t, kSequenceEndCount>& ended() const { return ended_; }

 private:
  using Queue = std::list<Sequence::Waiting>;
  struct Deadline {
    uint64_t ns;
    uint64_t handle;
    bool operator<(const Deadline& other) const {
      return ns != other.ns ? ns < other.ns : handle < other.handle;
    }
  };

  /// Checks the batch size and the correlation id of a new request.
  base::Status CheckRequest(const request::InferenceRequest& request) const;
  /// Returns the error for a request whose sequence does not exist.
  base::Status NotStarted(const request::InferenceRequest& request) const;
  /// Returns the time from which on instances get batches; not after `now_ns` if they get them.
  uint64_t OpensAt(uint64_t now_ns);
  /// Returns the sequence that the request belongs to. Begins one if the request has START or, with
  /// iterative_sequence, no correlation id.
  base::Result<Sequence*> FindOrBegin(request::InferenceRequest& request, uint64_t now_ns);
  /// Adds a request to the end of a sequence's queue, without offering it.
  void Append(Sequence& sequence, RequestPtr request, uint64_t now_ns);

  /// Offers the sequence's first request to its instance, if the sequence is active and neither
  /// ready nor running.
  void Offer(Sequence& sequence, uint64_t now_ns);
  /// Reverses Offer; does nothing for a sequence that is not ready.
  void Withdraw(Sequence& sequence);
  /// Takes the first request from a sequence that the strategy has picked.
  RequestPtr HandOut(Sequence& sequence);
  /// Continues a sequence whose request was released: offers the next one, makes the sequence idle,
  /// or ends it.
  void GoOn(Sequence& sequence, uint64_t now_ns);
  /// Refuses all waiting requests. Ends the sequence at once, or when its running request is
  /// released.
  void Kill(Sequence& sequence, SequenceEnd end, uint64_t now_ns, std::vector<Refusal>* refused);
  /// Refuses the requests that are cancelled or past their deadline, and all before them. If a
  /// START follows, the sequence begins again with it; otherwise the sequence is killed.
  void DropGivenUp(Sequence& sequence, uint64_t now_ns, std::vector<Refusal>* refused);
  /// Returns the first START after the last request that is cancelled or past its deadline, or
  /// end().
  static Queue::iterator FindSpared(Sequence& sequence, uint64_t now_ns);
  /// Refuses the requests before `until`, with the error that fits `end`.
  void RefuseQueue(Sequence& sequence, Queue::iterator until, SequenceEnd end,
                   std::vector<Refusal>* refused);
  /// Closes the sequence and removes it from the table, or queues the synthetic END first. Offers
  /// its successor and fills its slot from the backlog.
  void End(Sequence& sequence, uint64_t now_ns);
  /// Queues the synthetic END. Returns false if the model does not want it, the sequence needs
  /// none, or it cannot be made.
  bool Notify(Sequence& sequence, uint64_t now_ns);
  /// Gives free slots to sequences of the backlog.
  void FillSlots(uint64_t now_ns);
  void SetBacklogTimeout(Sequence& sequence, uint64_t until_ns);
  void RemoveDeadline(const Sequence& sequence, const Sequence::Waiting& waiting);
  void DropCancelledIn(SequenceTable::List& list, uint64_t now_ns, std::vector<Refusal>* refused);
  uint64_t IdleEnd(const Sequence& sequence) const;

  const config::ModelConfig& config_;
  const config::SequenceBatchingOptions& options_;
  const std::shared_ptr<const request::SequenceInputs> inputs_;
  const BatchCompatibility compatibility_;
  const uint64_t idle_ns_;
  const uint32_t slots_per_instance_;
  const bool notices_;

  SequenceTable table_;
  std::map<InstanceId, std::unique_ptr<ReadySequences>> instances_;
  /// One entry for each request in a queue that has a client's deadline.
  std::multiset<Deadline> deadlines_;
  std::set<Deadline> backlog_timeouts_;  // of sequences in the backlog
  std::array<uint64_t, kSequenceEndCount> ended_{};
  size_t waiting_ = 0;  // requests that are not handed out
  uint64_t next_internal_id_ = 1;
  bool draining_ = false;
  StartGate gate_;
};

}  // namespace nereid::schedule
