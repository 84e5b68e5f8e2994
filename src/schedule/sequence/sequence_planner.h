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

/// The sequence batcher, for all instances of a model. The rules that both strategies share:
///  - a sequence has one slot of one instance from its START to its end, or waits in the backlog,
///    from where the oldest sequence takes the first slot that is freed;
///  - its requests are executed in the order of their arrival, and the next one is handed out when
///    the one before has been released;
///  - END closes it for further requests at once, and ends it when that request is released; a new
///    sequence with its id begins then, not before;
///  - a sequence with nothing to do is ended when nothing has come for the idle time; one whose
///    waiting request is cancelled, or outlives its client's deadline, dies with all that waits,
///    but for a START behind it and what follows: with that the sequence begins anew;
///  - an iterative sequence is closed as soon as a request of it is released for good, and ends as
///    an idle one where an execution takes longer than the idle time and wants another one.
/// Which of the requests that may be handed out make a batch is the strategy's: DirectSlots or
/// OldestCandidates, one for each instance.
class SequencePlanner final : public BatchPlanner {
 public:
  static constexpr size_t kLongestStringId = 128;  // bytes

  /// The configuration must have sequence batching options; it must outlive the planner. `inputs`
  /// is what the requests get before they are handed out.
  SequencePlanner(const config::ModelConfig& config,
                  std::shared_ptr<const request::SequenceInputs> inputs);
  ~SequencePlanner() override;

  base::Status Push(RequestPtr& request, uint64_t now_ns) override;
  Decision Next(uint64_t now_ns, InstanceId instance) override;
  uint64_t ReadyAt(uint64_t now_ns, InstanceId instance) override;
  void Expire(uint64_t now_ns, std::vector<Refusal>* refused) override;
  uint64_t NextExpiry() const override;
  void DropCancelled(uint64_t now_ns, std::vector<Refusal>* refused) override;
  /// Nothing is handed out before these are met. Before the first request is pushed.
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
  /// How many sequences ended so far, by SequenceEnd.
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

  base::Status CheckRequest(const request::InferenceRequest& request) const;
  /// For a request of a sequence that is not there.
  base::Status NotStarted(const request::InferenceRequest& request) const;
  /// When instances may be given batches; not after `now_ns` if they may.
  uint64_t OpensAt(uint64_t now_ns);
  /// The sequence that the request belongs to, begun if it has START.
  base::Result<Sequence*> FindOrBegin(request::InferenceRequest& request, uint64_t now_ns);
  void Append(Sequence& sequence, RequestPtr request, uint64_t now_ns);

  /// Offers its first request to its instance, if nothing of it is there already.
  void Offer(Sequence& sequence, uint64_t now_ns);
  /// Takes it back.
  void Withdraw(Sequence& sequence);
  RequestPtr HandOut(Sequence& sequence);
  /// Nothing of it is handed out any more: goes on with what is queued, or ends.
  void GoOn(Sequence& sequence, uint64_t now_ns);
  /// Refuses all that waits, and ends the sequence as soon as nothing of it is handed out.
  void Kill(Sequence& sequence, SequenceEnd end, uint64_t now_ns, std::vector<Refusal>* refused);
  /// What somebody waits for no more, and what waits before it, is refused. With a START behind
  /// that the sequence begins anew; without one it is killed.
  void DropGivenUp(Sequence& sequence, uint64_t now_ns, std::vector<Refusal>* refused);
  static Queue::iterator FindSpared(Sequence& sequence, uint64_t now_ns);
  void RefuseQueue(Sequence& sequence, Queue::iterator until, SequenceEnd end,
                   std::vector<Refusal>* refused);
  void End(Sequence& sequence, uint64_t now_ns);
  /// Queues the synthetic END; false where the model does not want it, or cannot get it.
  bool Notify(Sequence& sequence, uint64_t now_ns);
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
  std::multiset<Deadline> deadlines_;    // of requests that are not handed out
  std::set<Deadline> backlog_timeouts_;  // of sequences in the backlog
  std::array<uint64_t, kSequenceEndCount> ended_{};
  size_t waiting_ = 0;  // requests that are not handed out
  uint64_t next_internal_id_ = 1;
  bool draining_ = false;
  StartGate gate_;
};

}  // namespace nereid::schedule
