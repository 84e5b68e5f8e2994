// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "config/model_config.h"
#include "request/sequence_inputs.h"
#include "schedule/batch_planner.h"
#include "schedule/sequence/sequence_admission.h"
#include "schedule/sequence/sequence_lifecycle.h"
#include "schedule/sequence/sequence_transfers.h"
#include "schedule/sequence_hooks.h"
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
///
/// The work is divided: SequenceAdmission finds the sequence of a new request, SequenceLifecycle
/// moves sequences through their phases, SequenceTable keeps them and their slots,
/// SequenceDeadlines knows when something is due, SequenceTransfers exchanges them with other
/// servers. This class receives the events.
class SequencePlanner final : public BatchPlanner, public SequenceHooks {
 public:
  /// Creates a planner for a configuration with sequence batching options, which must outlive it.
  /// `inputs` supplies the states of the sequences; null for a planner that only plans. No batch is
  /// made before the conditions of `start` are met.
  SequencePlanner(const config::ModelConfig& config,
                  std::shared_ptr<const request::SequenceInputs> inputs,
                  StartConditions start = {});

  base::Status Push(RequestPtr& request, uint64_t now_ns) override;
  Decision Next(uint64_t now_ns, InstanceId instance, std::vector<Refusal>* refused) override;
  uint64_t ReadyAt(uint64_t now_ns, InstanceId instance) override;
  void Expire(uint64_t now_ns, std::vector<Refusal>* refused) override;
  uint64_t NextExpiry() const override;
  void DropCancelled(uint64_t now_ns, std::vector<Refusal>* refused) override;
  void DropAll(const base::Status& error, std::vector<Refusal>* refused) override;
  /// Aborts the sequence of the request; its other requests are taken by TakeRefused.
  RequestPtr DropFirst(uint64_t now_ns) override;
  void Drain(uint64_t now_ns) override;
  size_t size() const override { return lifecycle_.waiting(); }

  void AddInstance(InstanceId instance, uint64_t now_ns) override;
  void RetireInstance(InstanceId instance) override { lifecycle_.table().RetireInstance(instance); }
  bool IsVacant(InstanceId instance) const override { return table().SlotsInUse(instance) == 0; }
  void RemoveInstance(InstanceId instance) override { lifecycle_.strategies().Remove(instance); }
  void OnReleased(request::InferenceRequest& request, uint64_t now_ns) override;
  base::Status CheckReschedule(const request::InferenceRequest& request, uint64_t now_ns) override;
  void Reschedule(RequestPtr request, uint64_t now_ns) override;
  void OnFailed(request::InferenceRequest& request, uint64_t now_ns) override;
  void TakeRefused(uint64_t now_ns, std::vector<Refusal>* refused) override;
  SequenceTransfers& transfers() override { return transfers_; }
  telemetry::SequenceStatistics CountSequences() const override;
  telemetry::SequenceList ListSequences(
      size_t limit, uint64_t now_ns,
      const std::function<std::string(InstanceId)>& name_of) const override;

  const SequenceTable& table() const { return lifecycle_.table(); }

 private:
  /// Returns the time from which on instances get batches; not after `now_ns` if they get them.
  uint64_t OpensAt(uint64_t now_ns);
  void DropCancelledIn(SequenceTable::List& list, uint64_t now_ns);

  const config::SequenceBatchingOptions& options_;
  SequenceAdmission admission_;
  SequenceLifecycle lifecycle_;
  SequenceTransfers transfers_;
  StartGate gate_;
};

}  // namespace nereid::schedule
