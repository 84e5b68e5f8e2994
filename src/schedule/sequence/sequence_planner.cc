// SPDX-License-Identifier: Apache-2.0
#include "schedule/sequence/sequence_planner.h"

#include <algorithm>
#include <new>
#include <utility>

#include "request/reschedule_status.h"
#include "schedule/sequence/sequence_report.h"

namespace nereid::schedule {

using base::Status;
using request::InferenceRequest;

SequencePlanner::SequencePlanner(const config::ModelConfig& config,
                                 std::shared_ptr<const request::SequenceInputs> inputs,
                                 StartConditions start)
    : options_(*config.sequence_batching()),
      admission_(config, std::move(inputs)),
      lifecycle_(config),
      transfers_(config, lifecycle_),
      gate_(start) {}

// The way of a request: Push appends it to its sequence, Offer shows the sequence's first request
// to the strategy of its instance, Next takes what the strategy picks (HandOut),
// CompleteSequenceBatch adds the server's inputs, and OnReleased continues the sequence.
Status SequencePlanner::Push(RequestPtr& request, uint64_t now_ns) {
  NEREID_RETURN_IF_ERROR(admission_.Check(*request));
  const uint32_t flags = request->flags;
  NEREID_ASSIGN_OR_RETURN(Sequence* const sequence,
                          admission_.FindOrBegin(*request, lifecycle_.table(), now_ns));
  try {
    lifecycle_.Append(*sequence, request, now_ns);
  } catch (...) {
    // The client gets the request back as it sent it.
    request->flags = flags;
    if (sequence->internal) request->correlation_id = uint64_t{0};
    const bool has_begun = sequence->queue.empty() && sequence->executions == 0;
    if (has_begun) (void)lifecycle_.table().Remove(*sequence);
    throw;
  }
  lifecycle_.Offer(*sequence, now_ns);
  return Status::Ok();
}

// ---- Handing out ----

uint64_t SequencePlanner::OpensAt(uint64_t now_ns) {
  if (gate_.IsOpen(now_ns)) return now_ns;
  size_t in_backlog = 0;
  for (const Sequence& sequence : table().backlog()) in_backlog += sequence.queue.size();
  return gate_.OpensAt(now_ns, size() - in_backlog, in_backlog);
}

Decision SequencePlanner::Next(uint64_t now_ns, InstanceId instance,
                               std::vector<Refusal>* refused) {
  Decision decision;
  Expire(now_ns, refused);
  if (const uint64_t opens_ns = OpensAt(now_ns); opens_ns > now_ns) {
    decision.wake_ns = opens_ns;
    return decision;
  }
  ReadySequences* const ready = lifecycle_.strategies().Find(instance);
  if (ready == nullptr) return decision;
  for (;;) {
    ReadySequences::Pick pick = ready->Choose(now_ns);
    for (Sequence* sequence : pick.cancelled) {
      lifecycle_.table().Move(*sequence, SequencePhase::kPending);
      lifecycle_.DropCancelled(*sequence, now_ns);
    }
    decision.wake_ns = pick.wake_ns;
    if (!pick.rows.empty()) {
      Batch& batch = decision.batch.emplace();
      batch.reason = pick.reason;
      batch.oldest_arrival_ns = pick.oldest_ns;
      batch.batch_size = pick.rows.size();
      batch.requests = std::move(pick.requests);
      for (size_t row = 0; row < pick.rows.size(); ++row) {
        if (pick.rows[row] != nullptr) batch.requests[row] = lifecycle_.HandOut(*pick.rows[row]);
      }
      batch.left_in_queue = size();
      // The batch must not be lost: if memory is short, a later call takes the refused requests.
      try {
        lifecycle_.TakeRefused(now_ns, refused);
      } catch (const std::bad_alloc&) {
      }
      return decision;
    }
    if (pick.cancelled.empty()) return decision;
    lifecycle_.TakeRefused(now_ns, refused);
  }
}

uint64_t SequencePlanner::ReadyAt(uint64_t now_ns, InstanceId instance) {
  if (const uint64_t opens_ns = OpensAt(now_ns); opens_ns > now_ns) return opens_ns;
  ReadySequences* const ready = lifecycle_.strategies().Find(instance);
  return ready == nullptr ? kNever : ready->ReadyAt(now_ns);
}

// ---- Requests that were handed out ----

void SequencePlanner::OnReleased(InferenceRequest& request, uint64_t now_ns) {
  Sequence* const sequence = lifecycle_.table().Find(request.sequence_handle);
  request.sequence_handle = 0;
  if (sequence == nullptr || sequence->phase != SequencePhase::kRunning) return;
  // The front end gets the request back with the client's own flags, which Reschedule clears, and
  // the client's own id.
  request.flags = sequence->running.front().flags;
  if (sequence->internal) request.correlation_id = uint64_t{0};
  if (options_.iterative) lifecycle_.Close(*sequence);
  lifecycle_.Release(*sequence, now_ns);
}

Status SequencePlanner::CheckReschedule(const InferenceRequest& request, uint64_t now_ns) {
  if (!options_.iterative) return request::RescheduleUnsupported();
  Sequence* const sequence = lifecycle_.table().Find(request.sequence_handle);
  if (sequence == nullptr) return admission_.NotStarted(request);
  if (now_ns < lifecycle_.deadlines().RescheduleEnd(sequence->queued_ns)) return Status::Ok();
  // The sequence has been idle for too long. It ends when the backend releases the request, which
  // must now be for good.
  lifecycle_.Close(*sequence);
  if (sequence->end == SequenceEnd::kEnd) sequence->end = SequenceEnd::kIdle;
  return admission_.NotStarted(request);
}

void SequencePlanner::Reschedule(RequestPtr request, uint64_t now_ns) {
  Sequence* const sequence = lifecycle_.table().Find(request->sequence_handle);
  // As in Triton: a rescheduled execution is neither the START nor the END of the sequence.
  request->flags = 0;
  request->times.queue_ns = now_ns;
  lifecycle_.Requeue(*sequence, std::move(request), now_ns);
}

void SequencePlanner::OnFailed(InferenceRequest& request, uint64_t now_ns) {
  Sequence* const sequence = lifecycle_.table().Find(request.sequence_handle);
  // Only the failure of a START ends the sequence: its states have no initial values, so no later
  // request can run. After another failure the states keep their values.
  if (sequence == nullptr || (request.flags & request::kFlagSequenceStart) == 0) return;
  lifecycle_.Abort(*sequence, SequenceEnd::kFailed, RefusalCause::kNoStates, now_ns);
}

void SequencePlanner::TakeRefused(uint64_t now_ns, std::vector<Refusal>* refused) {
  lifecycle_.TakeRefused(now_ns, refused);
}

// ---- Time, cancellation ----

void SequencePlanner::Expire(uint64_t now_ns, std::vector<Refusal>* refused) {
  SequenceTable& table = lifecycle_.table();
  const SequenceDeadlines& deadlines = lifecycle_.deadlines();
  // Each call removes at least the first entry: its request is refused.
  while (const uint64_t handle = deadlines.DueRequest(now_ns)) {
    lifecycle_.DropCancelled(*table.Find(handle), now_ns);
  }
  while (const uint64_t handle = deadlines.DueSlotWait(now_ns)) {
    lifecycle_.Abort(*table.Find(handle), SequenceEnd::kTimeout, RefusalCause::kSlotTimeout,
                     now_ns);
  }
  while (!table.idle().empty() && deadlines.IdleEnd(table.idle().front()) <= now_ns) {
    lifecycle_.Abort(table.idle().front(), SequenceEnd::kIdle, RefusalCause::kCancelled, now_ns);
  }
  lifecycle_.TakeRefused(now_ns, refused);
}

uint64_t SequencePlanner::NextExpiry() const { return lifecycle_.deadlines().Next(table()); }

void SequencePlanner::DropCancelledIn(SequenceTable::List& list, uint64_t now_ns) {
  // Handles, because DropCancelled may remove sequences from the list. Reading the request of a
  // candidate needs `sequence.candidate`: the OldestCandidates queue holds it meanwhile.
  std::vector<uint64_t> dead;
  for (const Sequence& sequence : list) {
    const bool cancelled =
        std::any_of(sequence.queue.begin(), sequence.queue.end(), [&](const auto& waiting) {
          const InferenceRequest& request =
              waiting.request != nullptr ? *waiting.request : *sequence.candidate->request;
          return request.IsCancelled();
        });
    if (cancelled) dead.push_back(sequence.handle);
  }
  for (const uint64_t handle : dead) {
    lifecycle_.DropCancelled(*lifecycle_.table().Find(handle), now_ns);
  }
}

void SequencePlanner::DropCancelled(uint64_t now_ns, std::vector<Refusal>* refused) {
  // The backlog first, so that no cancelled sequence takes a slot that the active ones free.
  DropCancelledIn(lifecycle_.table().backlog(), now_ns);
  DropCancelledIn(lifecycle_.table().active(), now_ns);
  lifecycle_.TakeRefused(now_ns, refused);
}

void SequencePlanner::DropAll(const Status& error, std::vector<Refusal>* refused) {
  const size_t first = refused->size();
  lifecycle_.AbortAll();
  lifecycle_.TakeRefused(0, refused);
  for (size_t i = first; i < refused->size(); ++i) {
    Refusal& refusal = (*refused)[i];
    refusal.error = error.WithPrefix(refusal.request->LogPrefix());
    refusal.reason = telemetry::FailureReason::kOther;
  }
}

RequestPtr SequencePlanner::DropFirst(uint64_t now_ns) {
  SequenceTable& table = lifecycle_.table();
  for (;;) {
    if (RequestPtr request = lifecycle_.TakeOneRefused()) return request;
    Sequence* waiting = nullptr;
    for (SequenceTable::List* list : {&table.backlog(), &table.active()}) {
      const auto found = std::find_if(list->begin(), list->end(),
                                      [](const Sequence& each) { return !each.queue.empty(); });
      if (found != list->end()) waiting = &*found;
    }
    if (waiting == nullptr) return nullptr;
    lifecycle_.Abort(*waiting, SequenceEnd::kFailed, RefusalCause::kNoMemory, now_ns);
  }
}

// Nothing more will arrive: an open gate lets the waiting requests run.
void SequencePlanner::Drain(uint64_t now_ns) {
  gate_.Open();
  lifecycle_.Drain(now_ns);
}

// ---- Instances, reports ----

void SequencePlanner::AddInstance(InstanceId instance, uint64_t now_ns) {
  lifecycle_.AddInstance(instance, now_ns);
}

telemetry::SequenceStatistics SequencePlanner::CountSequences() const {
  return schedule::CountSequences(table(), lifecycle_.ended());
}

telemetry::SequenceList SequencePlanner::ListSequences(
    size_t limit, uint64_t now_ns, const std::function<std::string(InstanceId)>& name_of) const {
  return schedule::ListSequences(table(), limit, now_ns, name_of);
}

}  // namespace nereid::schedule
