// SPDX-License-Identifier: Apache-2.0
#include "schedule/sequence/sequence_planner.h"

#include <algorithm>
#include <utility>

#include "schedule/sequence/direct_slots.h"
#include "schedule/sequence/oldest_candidates.h"
#include "schedule/sequence/sequence_notice.h"

namespace nereid::schedule {

using base::Status;
using request::CorrelationId;
using request::CorrelationIdText;
using request::InferenceRequest;

namespace {

uint32_t SlotsPerInstance(const config::ModelConfig& config) {
  const auto* oldest = std::get_if<config::OldestStrategy>(&config.sequence_batching()->strategy);
  if (oldest != nullptr && oldest->max_candidate_sequences > 0) {
    return static_cast<uint32_t>(oldest->max_candidate_sequences);
  }
  return static_cast<uint32_t>(std::max(1, config.max_batch_size()));
}

bool IsNone(const CorrelationId& id) {
  const auto* number = std::get_if<uint64_t>(&id);
  return number != nullptr ? *number == 0 : std::get<std::string>(id).empty();
}

/// Returns the value, or false for an error: the load of the model has been refused for it already.
bool IsTrue(const base::Result<bool>& result) { return result.ok() && *result; }

bool HasStart(const InferenceRequest& request) {
  return (request.flags & request::kFlagSequenceStart) != 0;
}
/// Returns until when the request may wait for a slot.
uint64_t TimeoutNs(const InferenceRequest& request, uint64_t arrival_ns) {
  if (request.timeout_us == 0) return kNever;
  return SaturatingAdd(arrival_ns, MicrosecondsToNs(request.timeout_us));
}
bool HasEnd(const InferenceRequest& request) {
  return (request.flags & request::kFlagSequenceEnd) != 0;
}

}  // namespace

SequencePlanner::SequencePlanner(const config::ModelConfig& config,
                                 std::shared_ptr<const request::SequenceInputs> inputs)
    : config_(config),
      options_(*config.sequence_batching()),
      inputs_(std::move(inputs)),
      compatibility_(config),
      idle_ns_(MicrosecondsToNs(options_.max_sequence_idle_us)),
      slots_per_instance_(SlotsPerInstance(config)),
      notices_(IsTrue(WantsSequenceEndNotice(config))) {}

SequencePlanner::~SequencePlanner() = default;

// ---- Arrival ----

Status SequencePlanner::CheckRequest(const InferenceRequest& request) const {
  // Triton's texts, which lack the request's id.
  const std::string to_model = "inference request to model '" + config_.name() + "' must specify ";
  if (request.batch_size > 1) {
    return Status::InvalidArgument(to_model +
                                   "batch-size 1 due to requirements of sequence batcher");
  }
  if (IsNone(request.correlation_id)) {
    if (options_.iterative) return Status::Ok();
    return Status::InvalidArgument(to_model + "a non-zero or non-empty correlation ID");
  }
  return Status::Ok();
}

Status SequencePlanner::NotStarted(const InferenceRequest& request) const {
  return Status::InvalidArgument(
      "inference request for sequence " + CorrelationIdText(request.correlation_id) +
      " to model '" + config_.name() +
      "' must specify the START flag on the first request of the sequence");
}

base::Result<Sequence*> SequencePlanner::FindOrBegin(InferenceRequest& request, uint64_t now_ns) {
  const bool internal = IsNone(request.correlation_id);
  if (internal) {
    // The model may tell sequences apart by their ids, so an internal id must not equal the id of a
    // client's live sequence.
    while (table_.IsLive(next_internal_id_)) ++next_internal_id_;
    request.correlation_id = next_internal_id_++;
    request.flags |= request::kFlagSequenceStart;
  } else if (Sequence* const known = table_.FindOpen(request.correlation_id)) {
    // Also a request with START joins the open sequence; SequenceInputs::Attach then resets its
    // states.
    return known;
  }
  if (table_.slots() == 0) {
    return Status::Unavailable(request.LogPrefix() + "model '" + config_.name() +
                               "' has only passive instances");
  }
  if (!HasStart(request)) return NotStarted(request);
  Sequence& begun = table_.Begin(request.correlation_id, internal, now_ns);
  begun.model = request.model();
  if (inputs_ != nullptr) begun.states = inputs_->NewStates();
  return &begun;
}

void SequencePlanner::Append(Sequence& sequence, RequestPtr request, uint64_t now_ns) {
  sequence.touched_ns = now_ns;
  sequence.queued_ns = now_ns;
  request->sequence_handle = sequence.handle;
  Sequence::Waiting& waiting = sequence.queue.emplace_back();
  waiting.arrival_ns = now_ns;
  ++waiting_;
  if (request->deadline_ns != 0) {
    waiting.deadline_ns = request->deadline_ns;
    deadlines_.insert({waiting.deadline_ns, sequence.handle});
  }
  // At the arrival and not at the execution: a START that arrives next begins the successor.
  if (HasEnd(*request)) table_.Close(sequence);
  if (sequence.standing == Sequence::Standing::kIdle) table_.SetIdle(sequence, false);
  if (sequence.standing == Sequence::Standing::kBacklog) {
    SetBacklogTimeout(sequence, std::min(sequence.backlog_until_ns, TimeoutNs(*request, now_ns)));
  }
  waiting.request = std::move(request);
}

// The way of a request: Push appends it to its sequence, Offer shows the sequence's first request
// to the strategy of its instance, Next takes what the strategy picks (HandOut), Complete adds the
// server's inputs, and OnReleased continues the sequence (GoOn).
Status SequencePlanner::Push(RequestPtr& request, uint64_t now_ns) {
  NEREID_RETURN_IF_ERROR(CheckRequest(*request));
  if (inputs_ != nullptr && !IsNone(request->correlation_id)) {
    NEREID_RETURN_IF_ERROR(inputs_->CheckCorrelationId(*request));
  }
  NEREID_ASSIGN_OR_RETURN(Sequence* const sequence, FindOrBegin(*request, now_ns));
  Append(*sequence, std::move(request), now_ns);
  Offer(*sequence, now_ns);
  return Status::Ok();
}

Status SequencePlanner::CheckReschedule(const InferenceRequest& request, uint64_t now_ns) {
  if (!options_.iterative) return BatchPlanner::CheckReschedule(request, now_ns);
  Sequence* const sequence = table_.Find(request.sequence_handle);
  if (sequence == nullptr) return NotStarted(request);
  if (now_ns < SaturatingAdd(sequence->queued_ns, idle_ns_)) return Status::Ok();
  // The sequence has been idle for too long. It ends when the backend releases the request, which
  // must now be for good.
  table_.Close(*sequence);
  if (sequence->end == SequenceEnd::kEnd) sequence->end = SequenceEnd::kIdle;
  return NotStarted(request);
}

void SequencePlanner::Reschedule(RequestPtr request, uint64_t now_ns,
                                 std::vector<Refusal>* refused) {
  Sequence* const sequence = table_.Find(request->sequence_handle);
  sequence->running = false;
  sequence->touched_ns = now_ns;
  sequence->queued_ns = now_ns;
  // As in Triton: a rescheduled execution is neither the START nor the END of the sequence.
  request->flags = 0;
  request->times.queue_ns = now_ns;
  // In front of the requests that have arrived meanwhile.
  Sequence::Waiting& first = sequence->queue.emplace_front();
  first.arrival_ns = now_ns;
  first.ordered = true;
  first.rescheduled = true;
  if (request->deadline_ns != 0) {
    first.deadline_ns = request->deadline_ns;
    deadlines_.insert({first.deadline_ns, sequence->handle});
  }
  const bool cancelled = request->IsCancelled();
  first.request = std::move(request);
  ++waiting_;
  if (cancelled) {
    DropGivenUp(*sequence, now_ns, refused);
  } else if (sequence->end != SequenceEnd::kEnd) {
    // The sequence was killed while the request was running.
    Kill(*sequence, SequenceEnd::kCancelled, now_ns, refused);
  } else {
    Offer(*sequence, now_ns);
  }
}

// ---- Handing out ----

void SequencePlanner::Offer(Sequence& sequence, uint64_t now_ns) {
  if (sequence.standing != Sequence::Standing::kActive || sequence.ready || sequence.running ||
      sequence.queue.empty() || sequence.predecessor != nullptr) {
    return;
  }
  sequence.ready = true;
  sequence.queue.front().request->states = sequence.states;
  instances_.at(sequence.instance)->Add(sequence, now_ns);
}

void SequencePlanner::Withdraw(Sequence& sequence) {
  if (!sequence.ready) return;
  sequence.ready = false;
  instances_.at(sequence.instance)->Remove(sequence);
}

RequestPtr SequencePlanner::HandOut(Sequence& sequence) {
  Sequence::Waiting& first = sequence.queue.front();
  RemoveDeadline(sequence, first);
  RequestPtr request = std::move(first.request);
  // OnReleased gives these flags back to the request, which Reschedule has cleared.
  if (!first.rescheduled) sequence.running_flags = request->flags;
  sequence.queue.pop_front();
  --waiting_;
  sequence.ready = false;
  sequence.running = true;
  sequence.seen = true;
  // A notice: the backend may see that no client waits.
  if (request->is_null) request->cancellation()->Cancel();
  return request;
}

uint64_t SequencePlanner::OpensAt(uint64_t now_ns) {
  if (gate_.IsOpen(now_ns)) return now_ns;
  size_t in_backlog = 0;
  for (const Sequence& sequence : table_.backlog()) in_backlog += sequence.queue.size();
  return gate_.OpensAt(now_ns, waiting_ - in_backlog, in_backlog);
}

Decision SequencePlanner::Next(uint64_t now_ns, InstanceId instance) {
  Decision decision;
  Expire(now_ns, &decision.refused);
  if (const uint64_t opens_ns = OpensAt(now_ns); opens_ns > now_ns) {
    decision.wake_ns = opens_ns;
    return decision;
  }
  const auto found = instances_.find(instance);
  if (found == instances_.end()) return decision;
  for (;;) {
    ReadySequences::Pick pick = found->second->Choose(now_ns);
    for (Sequence* sequence : pick.cancelled) {
      sequence->ready = false;
      DropGivenUp(*sequence, now_ns, &decision.refused);
    }
    if (pick.rows.empty() && !pick.cancelled.empty()) continue;
    decision.wake_ns = pick.wake_ns;
    if (pick.rows.empty()) return decision;
    Batch& batch = decision.batch.emplace();
    batch.reason = pick.reason;
    batch.oldest_arrival_ns = pick.oldest_ns;
    batch.batch_size = pick.rows.size();
    batch.requests.reserve(pick.rows.size());
    for (Sequence* sequence : pick.rows) {
      batch.requests.push_back(sequence == nullptr ? nullptr : HandOut(*sequence));
    }
    batch.left_in_queue = waiting_;
    return decision;
  }
}

uint64_t SequencePlanner::ReadyAt(uint64_t now_ns, InstanceId instance) {
  if (const uint64_t opens_ns = OpensAt(now_ns); opens_ns > now_ns) return opens_ns;
  const auto found = instances_.find(instance);
  return found == instances_.end() ? kNever : found->second->ReadyAt(now_ns);
}

void SequencePlanner::Complete(Batch* batch, std::vector<Refusal>* failed) const {
  if (inputs_ == nullptr) return;
  const InferenceRequest* reference = nullptr;
  for (RequestPtr& request : batch->requests) {
    if (request == nullptr) continue;
    const Status status = inputs_->Attach(*request, std::exchange(request->states, nullptr));
    if (status.ok()) {
      reference = request.get();
    } else {
      failed->push_back({std::move(request), status, telemetry::FailureReason::kOther});
    }
  }
  // No padding is needed after the last request that is left.
  while (!batch->requests.empty() && batch->requests.back() == nullptr) batch->requests.pop_back();
  batch->batch_size = batch->requests.size();
  for (RequestPtr& row : batch->requests) {
    if (row != nullptr) continue;
    auto padding = inputs_->NewNullRequest(*reference);
    if (padding.ok()) {
      row = std::move(*padding);
      continue;
    }
    // Without the padding row every later row would be the slot of another sequence.
    for (RequestPtr& request : batch->requests) {
      if (request != nullptr && !request->is_null) {
        failed->push_back({std::move(request), padding.status(), telemetry::FailureReason::kOther});
      }
    }
    batch->requests.clear();
    return;
  }
}

// ---- The end of a request, the end of a sequence ----

void SequencePlanner::OnReleased(InferenceRequest& request, uint64_t now_ns) {
  Sequence* const sequence = table_.Find(request.sequence_handle);
  request.sequence_handle = 0;
  if (sequence == nullptr || !sequence->running) return;
  sequence->running = false;
  sequence->touched_ns = now_ns;
  // The front end gets the request back with the client's own flags and id.
  request.flags = sequence->running_flags;
  if (sequence->internal) request.correlation_id = uint64_t{0};
  if (options_.iterative) table_.Close(*sequence);
  GoOn(*sequence, now_ns);
}

void SequencePlanner::GoOn(Sequence& sequence, uint64_t now_ns) {
  if (!sequence.queue.empty()) return Offer(sequence, now_ns);
  if (!sequence.open) return End(sequence, now_ns);
  if (draining_) {
    sequence.end = SequenceEnd::kUnload;
    return End(sequence, now_ns);
  }
  table_.SetIdle(sequence, true);
}

void SequencePlanner::OnFailed(InferenceRequest& request, uint64_t now_ns,
                               std::vector<Refusal>* refused) {
  Sequence* const sequence = table_.Find(request.sequence_handle);
  // Only the failure of a START ends the sequence: its states have no initial values, so no later
  // request can run. After another failure the states keep their values.
  if (sequence != nullptr && HasStart(request))
    Kill(*sequence, SequenceEnd::kFailed, now_ns, refused);
}

void SequencePlanner::RefuseQueue(Sequence& sequence, Queue::iterator until, SequenceEnd end,
                                  std::vector<Refusal>* refused) {
  for (auto waiting = sequence.queue.begin(); waiting != until;
       waiting = sequence.queue.erase(waiting)) {
    RemoveDeadline(sequence, *waiting);
    --waiting_;
    if (waiting->request->is_null) continue;
    InferenceRequest& request = *waiting->request;
    request.states.reset();
    if (sequence.internal) request.correlation_id = uint64_t{0};
    Refusal refusal{std::move(waiting->request), Status::Ok()};
    if (end == SequenceEnd::kTimeout) {
      refusal.error = Status::Unavailable("timeout of the corresponding sequence has been expired");
    } else if (end == SequenceEnd::kFailed) {
      refusal.error = Status::Unavailable(request.LogPrefix() +
                                          "the sequence has ended: its states could not be set up");
      refusal.reason = telemetry::FailureReason::kOther;
    } else {
      refusal.error = Status::Cancelled(request.LogPrefix() + "Request was cancelled");
      refusal.reason = telemetry::FailureReason::kCanceled;
    }
    refused->push_back(std::move(refusal));
  }
}

/// A given-up request after a START resets `spared`: what is spared lies behind all of them.
SequencePlanner::Queue::iterator SequencePlanner::FindSpared(Sequence& sequence, uint64_t now_ns) {
  auto spared = sequence.queue.end();
  for (auto waiting = sequence.queue.begin(); waiting != sequence.queue.end(); ++waiting) {
    if (waiting->request->IsCancelled() || waiting->deadline_ns <= now_ns) {
      spared = sequence.queue.end();
    } else if (spared == sequence.queue.end() && HasStart(*waiting->request)) {
      spared = waiting;
    }
  }
  return spared;
}

void SequencePlanner::DropGivenUp(Sequence& sequence, uint64_t now_ns,
                                  std::vector<Refusal>* refused) {
  Withdraw(sequence);
  const auto spared = FindSpared(sequence, now_ns);
  if (spared == sequence.queue.end()) {
    return Kill(sequence, SequenceEnd::kCancelled, now_ns, refused);
  }
  RefuseQueue(sequence, spared, SequenceEnd::kCancelled, refused);
  if (sequence.standing == Sequence::Standing::kBacklog) {
    uint64_t until_ns = kNever;
    for (const Sequence::Waiting& waiting : sequence.queue) {
      until_ns = std::min(until_ns, TimeoutNs(*waiting.request, waiting.arrival_ns));
    }
    SetBacklogTimeout(sequence, until_ns);
  }
  Offer(sequence, now_ns);
}

void SequencePlanner::Kill(Sequence& sequence, SequenceEnd end, uint64_t now_ns,
                           std::vector<Refusal>* refused) {
  Withdraw(sequence);
  RefuseQueue(sequence, sequence.queue.end(), end, refused);
  table_.Close(sequence);
  // The queued notice already belongs to an end with a reason; that reason is kept.
  if (!sequence.notified) sequence.end = end;
  // Otherwise OnReleased ends it: the sequence is closed and its queue is empty.
  if (!sequence.running) End(sequence, now_ns);
}

bool SequencePlanner::Notify(Sequence& sequence, uint64_t now_ns) {
  if (!notices_ || sequence.end == SequenceEnd::kEnd || !sequence.seen || sequence.notified) {
    return false;
  }
  // Without the model nobody can execute the notice.
  auto model = sequence.model.lock();
  if (model == nullptr) return false;
  RequestPtr notice = MakeSequenceEndNotice(config_, sequence, std::move(model));
  if (notice == nullptr) return false;
  sequence.notified = true;
  Append(sequence, std::move(notice), now_ns);
  Offer(sequence, now_ns);
  return true;
}

void SequencePlanner::End(Sequence& sequence, uint64_t now_ns) {
  table_.Close(sequence);
  // A notice keeps the sequence, and its slot, until the backend has released the notice.
  if (Notify(sequence, now_ns)) return;
  ++ended_[static_cast<size_t>(sequence.end)];
  SetBacklogTimeout(sequence, kNever);
  const bool had_slot = sequence.standing != Sequence::Standing::kBacklog;
  Sequence* const unblocked = table_.Remove(sequence);
  if (unblocked != nullptr) Offer(*unblocked, now_ns);
  if (had_slot) FillSlots(now_ns);
}

void SequencePlanner::FillSlots(uint64_t now_ns) {
  while (Sequence* const sequence = table_.TakeFromBacklog()) {
    SetBacklogTimeout(*sequence, kNever);
    Offer(*sequence, now_ns);
  }
}

// ---- Time, cancellation ----

void SequencePlanner::RemoveDeadline(const Sequence& sequence, const Sequence::Waiting& waiting) {
  if (waiting.deadline_ns == kNever) return;
  // One entry only: other requests of the sequence may have the same deadline.
  deadlines_.erase(deadlines_.find({waiting.deadline_ns, sequence.handle}));
}

void SequencePlanner::SetBacklogTimeout(Sequence& sequence, uint64_t until_ns) {
  if (until_ns == sequence.backlog_until_ns) return;
  backlog_timeouts_.erase({sequence.backlog_until_ns, sequence.handle});
  if (until_ns != kNever) backlog_timeouts_.insert({until_ns, sequence.handle});
  sequence.backlog_until_ns = until_ns;
}

uint64_t SequencePlanner::IdleEnd(const Sequence& sequence) const {
  return SaturatingAdd(sequence.touched_ns, idle_ns_);
}

void SequencePlanner::Expire(uint64_t now_ns, std::vector<Refusal>* refused) {
  // Each call removes at least the first entry: its request is refused.
  while (!deadlines_.empty() && deadlines_.begin()->ns <= now_ns) {
    DropGivenUp(*table_.Find(deadlines_.begin()->handle), now_ns, refused);
  }
  while (!backlog_timeouts_.empty() && backlog_timeouts_.begin()->ns <= now_ns) {
    Kill(*table_.Find(backlog_timeouts_.begin()->handle), SequenceEnd::kTimeout, now_ns, refused);
  }
  while (!table_.idle().empty() && IdleEnd(table_.idle().front()) <= now_ns) {
    Kill(table_.idle().front(), SequenceEnd::kIdle, now_ns, refused);
  }
}

uint64_t SequencePlanner::NextExpiry() const {
  uint64_t next_ns = deadlines_.empty() ? kNever : deadlines_.begin()->ns;
  if (!backlog_timeouts_.empty()) next_ns = std::min(next_ns, backlog_timeouts_.begin()->ns);
  if (!table_.idle().empty()) next_ns = std::min(next_ns, IdleEnd(table_.idle().front()));
  return next_ns;
}

void SequencePlanner::DropCancelledIn(SequenceTable::List& list, uint64_t now_ns,
                                      std::vector<Refusal>* refused) {
  // Handles, because DropGivenUp may remove sequences from the list. Reading the request of a
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
    DropGivenUp(*table_.Find(handle), now_ns, refused);
  }
}

void SequencePlanner::DropCancelled(uint64_t now_ns, std::vector<Refusal>* refused) {
  // The backlog first, so that no cancelled sequence takes a slot that the active ones free.
  DropCancelledIn(table_.backlog(), now_ns, refused);
  DropCancelledIn(table_.active(), now_ns, refused);
}

void SequencePlanner::DropAll(const Status& error, std::vector<Refusal>* refused) {
  // Kill reports cancellations; the errors are replaced below.
  const size_t first = refused->size();
  draining_ = true;
  for (SequenceTable::List* list : {&table_.backlog(), &table_.active(), &table_.idle()}) {
    // Handles, because Kill removes sequences from the list.
    std::vector<uint64_t> handles;
    for (const Sequence& sequence : *list) handles.push_back(sequence.handle);
    for (const uint64_t handle : handles) {
      Sequence* const sequence = table_.Find(handle);
      if (sequence == nullptr) continue;
      sequence->notified = true;  // no instance is left to execute a notice
      sequence->end = SequenceEnd::kUnload;
      Kill(*sequence, SequenceEnd::kUnload, sequence->touched_ns, refused);
    }
  }
  for (size_t i = first; i < refused->size(); ++i) {
    Refusal& refusal = (*refused)[i];
    refusal.error = error.WithPrefix(refusal.request->LogPrefix());
    refusal.reason = telemetry::FailureReason::kOther;
  }
}

void SequencePlanner::Drain(uint64_t now_ns, std::vector<Refusal>* refused) {
  draining_ = true;
  gate_.Open();
  while (!table_.idle().empty()) {
    Kill(table_.idle().front(), SequenceEnd::kUnload, now_ns, refused);
  }
}

// ---- Instances ----

void SequencePlanner::AddInstance(InstanceId instance, uint64_t now_ns) {
  std::unique_ptr<ReadySequences>& ready = instances_[instance];
  if (const auto* oldest = std::get_if<config::OldestStrategy>(&options_.strategy)) {
    ready = std::make_unique<OldestCandidates>(config_, *oldest);
  } else {
    ready = std::make_unique<DirectSlots>(std::get<config::DirectStrategy>(options_.strategy),
                                          slots_per_instance_, compatibility_);
  }
  table_.AddInstance(instance, slots_per_instance_);
  FillSlots(now_ns);
}

void SequencePlanner::RetireInstance(InstanceId instance) { table_.RetireInstance(instance); }

void SequencePlanner::RemoveInstance(InstanceId instance) { instances_.erase(instance); }

bool SequencePlanner::IsVacant(InstanceId instance) const {
  return table_.SlotsInUse(instance) == 0;
}

}  // namespace nereid::schedule
