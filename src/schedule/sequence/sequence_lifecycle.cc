// SPDX-License-Identifier: Apache-2.0
#include "schedule/sequence/sequence_lifecycle.h"

#include <algorithm>
#include <new>
#include <utility>

#include "request/response_factory.h"
#include "schedule/sequence/sequence_notice.h"

namespace nereid::schedule {

using base::Status;
using request::InferenceRequest;

namespace {

/// Returns the value, or false for an error: the load of the model has been refused for it already.
bool IsTrue(const base::Result<bool>& result) { return result.ok() && *result; }

bool HasFlag(const InferenceRequest& request, uint32_t flag) { return (request.flags & flag) != 0; }

/// Returns until when the request may wait for a slot.
uint64_t SlotTimeoutNs(const InferenceRequest& request, uint64_t arrival_ns) {
  if (request.timeout_us == 0) return kNever;
  return base::Duration::Microseconds(request.timeout_us).After(arrival_ns);
}

/// Returns the first START behind the last request that is cancelled or past its deadline, or
/// end().
Sequence::Queue::iterator FirstKeptRequest(Sequence& sequence, uint64_t now_ns) {
  auto kept = sequence.queue.end();
  for (auto waiting = sequence.queue.begin(); waiting != sequence.queue.end(); ++waiting) {
    if (waiting->request->IsCancelled() || waiting->deadline_ns <= now_ns) {
      kept = sequence.queue.end();
    } else if (kept == sequence.queue.end() &&
               HasFlag(*waiting->request, request::kFlagSequenceStart)) {
      kept = waiting;
    }
  }
  return kept;
}

/// Returns the refusal for a request, without the request itself.
Refusal DescribeRefusal(const InferenceRequest& request, RefusalCause cause) {
  using telemetry::FailureReason;
  switch (cause) {
    case RefusalCause::kSlotTimeout:
      // Triton's text, which lacks the request's id.
      return {nullptr,
              Status::Unavailable("timeout of the corresponding sequence has been expired"),
              FailureReason::kRejected};
    case RefusalCause::kNoStates:
      return {nullptr,
              Status::Unavailable(request.LogPrefix() +
                                  "the sequence has ended: its states could not be set up"),
              FailureReason::kOther};
    case RefusalCause::kNoMemory:
      return {nullptr,
              Status::Unavailable(request.LogPrefix() +
                                  "the sequence has ended: the server is out of memory"),
              FailureReason::kOther};
    case RefusalCause::kCancelled:
      break;
  }
  return {nullptr, Status::Cancelled(request.LogPrefix() + "Request was cancelled"),
          FailureReason::kCanceled};
}

}  // namespace

SequenceLifecycle::SequenceLifecycle(const config::ModelConfig& config)
    : config_(config),
      notices_(IsTrue(WantsSequenceEndNotice(config))),
      deadlines_(base::Duration::Microseconds(config.sequence_batching()->max_sequence_idle_us)),
      strategies_(config) {}

// ---- Requests ----

void SequenceLifecycle::Append(Sequence& sequence, RequestPtr& request, uint64_t now_ns) {
  Sequence::Queue added;
  Sequence::Waiting& waiting = added.emplace_back();
  waiting.arrival_ns = now_ns;
  waiting.flags = request->flags;
  if (request->deadline_ns != 0) waiting.deadline_ns = request->deadline_ns;
  deadlines_.Add(sequence, waiting, SlotTimeoutNs(*request, now_ns));
  // Nothing below allocates.
  sequence.queue.splice(sequence.queue.end(), added);
  ++waiting_;
  sequence.touched_ns = now_ns;
  sequence.queued_ns = now_ns;
  request->sequence_handle = sequence.handle;
  // At the arrival and not at the execution: a START that arrives next begins the successor.
  if (HasFlag(*request, request::kFlagSequenceEnd)) Close(sequence);
  if (sequence.phase == SequencePhase::kIdle) table_.Move(sequence, SequencePhase::kPending);
  waiting.request = std::move(request);
}

void SequenceLifecycle::Offer(Sequence& sequence, uint64_t now_ns) {
  if (sequence.phase != SequencePhase::kPending || sequence.queue.empty() ||
      sequence.predecessor != nullptr) {
    return;
  }
  sequence.queue.front().request->states = sequence.states;
  try {
    strategies_.Find(sequence.instance)->Add(sequence, now_ns);
  } catch (const std::bad_alloc&) {
    // Not aborted here: the end of a sequence offers others, which would fail too, each one deeper
    // on the stack.
    starved_ = true;
    table_.MoveToFront(sequence);
    return;
  }
  table_.Move(sequence, SequencePhase::kReady);
}

void SequenceLifecycle::Withdraw(Sequence& sequence) {
  if (sequence.phase != SequencePhase::kReady) return;
  strategies_.Find(sequence.instance)->Remove(sequence);
  table_.Move(sequence, SequencePhase::kPending);
}

RequestPtr SequenceLifecycle::HandOut(Sequence& sequence) {
  sequence.running.splice(sequence.running.end(), sequence.queue, sequence.queue.begin());
  Sequence::Waiting& first = sequence.running.front();
  deadlines_.Suspend(sequence, first);
  --waiting_;
  ++sequence.executions;
  table_.Move(sequence, SequencePhase::kRunning);
  // A notice: the backend may see that no client waits.
  if (first.request->is_null) first.request->cancellation()->Cancel();
  return std::move(first.request);
}

void SequenceLifecycle::Release(Sequence& sequence, uint64_t now_ns) {
  sequence.running.clear();
  sequence.touched_ns = now_ns;
  table_.Move(sequence, SequencePhase::kPending);
  if (!sequence.queue.empty()) return Offer(sequence, now_ns);
  if (!sequence.is_open()) return End(sequence, now_ns);
  if (draining_) {
    sequence.end = SequenceEnd::kUnload;
    return End(sequence, now_ns);
  }
  table_.Move(sequence, SequencePhase::kIdle);
}

void SequenceLifecycle::Requeue(Sequence& sequence, RequestPtr request, uint64_t now_ns) {
  const bool cancelled = request->IsCancelled();
  // In front of the requests that have arrived meanwhile.
  sequence.queue.splice(sequence.queue.begin(), sequence.running);
  Sequence::Waiting& first = sequence.queue.front();
  first.arrival_ns = now_ns;
  first.request = std::move(request);
  deadlines_.Resume(first);
  ++waiting_;
  sequence.touched_ns = now_ns;
  sequence.queued_ns = now_ns;
  table_.Move(sequence, SequencePhase::kPending);
  if (cancelled) {
    DropCancelled(sequence, now_ns);
  } else if (sequence.end != SequenceEnd::kEnd) {
    // The sequence was aborted while the request was running.
    Abort(sequence, SequenceEnd::kCancelled, RefusalCause::kCancelled, now_ns);
  } else {
    Offer(sequence, now_ns);
  }
}

// ---- Ends ----

void SequenceLifecycle::Close(Sequence& sequence) {
  if (sequence.intake == SequenceIntake::kOpen) sequence.intake = SequenceIntake::kClosed;
}

void SequenceLifecycle::Refuse(Sequence& sequence, Sequence::Queue::iterator until,
                               RefusalCause cause) {
  while (sequence.queue.begin() != until) {
    const auto waiting = sequence.queue.begin();
    deadlines_.Remove(sequence, *waiting);
    --waiting_;
    InferenceRequest& request = *waiting->request;
    if (request.is_null) {
      request.response_factory()->Disarm();
      sequence.queue.erase(waiting);
      continue;
    }
    request.states.reset();
    // The client gets its request back as it sent it.
    if (sequence.internal) request.correlation_id = uint64_t{0};
    waiting->cause = cause;
    refused_.splice(refused_.end(), sequence.queue, waiting);
  }
}

void SequenceLifecycle::DropCancelled(Sequence& sequence, uint64_t now_ns) {
  Withdraw(sequence);
  const auto kept = FirstKeptRequest(sequence, now_ns);
  if (kept == sequence.queue.end()) {
    return Abort(sequence, SequenceEnd::kCancelled, RefusalCause::kCancelled, now_ns);
  }
  Refuse(sequence, kept, RefusalCause::kCancelled);
  if (!sequence.has_slot()) {
    uint64_t until_ns = kNever;
    for (const Sequence::Waiting& waiting : sequence.queue) {
      until_ns = std::min(until_ns, SlotTimeoutNs(*waiting.request, waiting.arrival_ns));
    }
    deadlines_.ExtendSlotWait(sequence, until_ns);
  }
  Offer(sequence, now_ns);
}

void SequenceLifecycle::Abort(Sequence& sequence, SequenceEnd end, RefusalCause cause,
                              uint64_t now_ns) {
  Withdraw(sequence);
  Refuse(sequence, sequence.queue.end(), cause);
  Close(sequence);
  // The queued notice already belongs to an end with a reason; that reason is kept.
  if (sequence.intake != SequenceIntake::kSealed) sequence.end = end;
  // Otherwise Release ends it: the sequence is closed and its queue is empty.
  if (sequence.phase != SequencePhase::kRunning) End(sequence, now_ns);
}

void SequenceLifecycle::AbortAll() {
  for (SequenceTable::List* list : {&table_.backlog(), &table_.active(), &table_.idle()}) {
    // Handles, because Abort removes sequences from the list.
    std::vector<uint64_t> handles;
    for (const Sequence& sequence : *list) handles.push_back(sequence.handle);
    for (const uint64_t handle : handles) {
      Sequence* const sequence = table_.Find(handle);
      if (sequence == nullptr) continue;
      sequence->intake = SequenceIntake::kSealed;
      sequence->end = SequenceEnd::kUnload;
      Abort(*sequence, SequenceEnd::kUnload, RefusalCause::kCancelled, sequence->touched_ns);
    }
  }
  draining_ = true;
}

bool SequenceLifecycle::Notify(Sequence& sequence, uint64_t now_ns) {
  if (!notices_ || sequence.end == SequenceEnd::kEnd || sequence.executions == 0 ||
      sequence.intake == SequenceIntake::kSealed) {
    return false;
  }
  // A model that is unloaded cannot execute the notice.
  auto model = sequence.model.lock();
  if (model == nullptr) return false;
  RequestPtr notice;
  try {
    notice = MakeSequenceEndNotice(config_, sequence, std::move(model));
    if (notice == nullptr) return false;
    Append(sequence, notice, now_ns);
  } catch (const std::bad_alloc&) {
    if (notice != nullptr) notice->response_factory()->Disarm();
    return false;
  }
  sequence.intake = SequenceIntake::kSealed;
  Offer(sequence, now_ns);
  return true;
}

void SequenceLifecycle::End(Sequence& sequence, uint64_t now_ns) {
  Close(sequence);
  // A notice keeps the sequence, and its slot, until the backend has released the notice.
  if (Notify(sequence, now_ns)) return;
  ++ended_[static_cast<size_t>(sequence.end)];
  deadlines_.ExtendSlotWait(sequence, kNever);
  const bool had_slot = sequence.has_slot();
  Sequence* const unblocked = table_.Remove(sequence);
  if (unblocked != nullptr) Offer(*unblocked, now_ns);
  if (had_slot) FillSlots(now_ns);
}

void SequenceLifecycle::FillSlots(uint64_t now_ns) {
  while (Sequence* const sequence = table_.TakeFromBacklog()) {
    deadlines_.ExtendSlotWait(*sequence, kNever);
    // Only a sequence that another server has handed over waits for a slot without a request.
    if (sequence->queue.empty()) {
      table_.Move(*sequence, SequencePhase::kIdle);
    } else {
      Offer(*sequence, now_ns);
    }
  }
}

void SequenceLifecycle::Drain(uint64_t now_ns) {
  draining_ = true;
  while (!table_.idle().empty()) {
    Abort(table_.idle().front(), SequenceEnd::kUnload, RefusalCause::kCancelled, now_ns);
  }
}

void SequenceLifecycle::MoveRefused(uint64_t now_ns, std::vector<Refusal>* refused) {
  const auto is_starved = [](const Sequence& sequence) {
    return sequence.phase == SequencePhase::kPending && sequence.predecessor == nullptr &&
           !sequence.queue.empty();
  };
  // Each Abort may set starved_ again, and puts the sequences concerned at the front of the list.
  while (starved_) {
    SequenceTable::List& active = table_.active();
    const auto found = std::find_if(active.begin(), active.end(), is_starved);
    starved_ = found != active.end();
    if (starved_) Abort(*found, SequenceEnd::kFailed, RefusalCause::kNoMemory, now_ns);
  }
  while (!refused_.empty()) {
    Sequence::Waiting& waiting = refused_.front();
    refused->push_back(DescribeRefusal(*waiting.request, waiting.cause));
    refused->back().request = std::move(waiting.request);
    refused_.pop_front();
  }
}

RequestPtr SequenceLifecycle::TakeOneRefused() {
  if (refused_.empty()) return nullptr;
  RequestPtr request = std::move(refused_.front().request);
  refused_.pop_front();
  return request;
}

// ---- Instances ----

void SequenceLifecycle::AddInstance(InstanceId instance, uint64_t now_ns) {
  strategies_.Add(instance);
  try {
    table_.AddInstance(instance, strategies_.slots_per_instance());
  } catch (...) {
    strategies_.Remove(instance);
    throw;
  }
  FillSlots(now_ns);
}

}  // namespace nereid::schedule
