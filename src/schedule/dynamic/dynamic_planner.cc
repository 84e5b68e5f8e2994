// SPDX-License-Identifier: Apache-2.0
#include "schedule/dynamic/dynamic_planner.h"

#include <algorithm>

namespace nereid::schedule {
namespace {

/// Returns the time from which on a batch that must run before `must_run_ns` is not held back.
uint64_t EndOfHold(uint64_t must_run_ns) {
  if (must_run_ns == kNever) return kNever;
  return must_run_ns - std::min(must_run_ns, DynamicPlanner::kDeadlineMarginNs);
}

/// Returns whether a parameter is "true". A bad value counts as false: the load of the model has
/// been refused for it already (MakeScheduler).
bool IsTrue(const config::ModelConfig& config, const char* parameter) {
  const std::string* const text = config.FindParameter(parameter);
  return text != nullptr && *text == "true";
}

/// Adds a batch that is taken to the history of lone requests.
void NoteTaken(const Batch& batch, LoneRequests* lone) {
  if (batch.reason == BatchReason::kAlone) return lone->OnWentAtOnce();
  if (batch.reason == BatchReason::kDelayExpired) {
    return lone->OnDelayExpired(batch.requests.size());
  }
  lone->OnOtherBatch(batch.requests.size());
}

}  // namespace

base::Status DynamicPlanner::CheckParameters(const config::ModelConfig& config) {
  for (const char* parameter : {kBatchBeforeTimeout, kNoWaitingAlone}) {
    const std::string* const text = config.FindParameter(parameter);
    if (text == nullptr || *text == "false" || *text == "true") continue;
    return base::Status::InvalidArgument("model '" + config.name() + "': parameter '" + parameter +
                                         "' must be 'true' or 'false', got '" + *text + "'");
  }
  return base::Status::Ok();
}

DynamicPlanner::DynamicPlanner(const config::ModelConfig& config,
                               std::shared_ptr<BatchLimits> limits)
    : DynamicPlanner(config, *config.dynamic_batching(), std::move(limits)) {}

DynamicPlanner::DynamicPlanner(const config::ModelConfig& config,
                               const config::DynamicBatchingOptions& options,
                               std::shared_ptr<BatchLimits> limits)
    : max_batch_size_(static_cast<uint64_t>(std::max(1, config.max_batch_size()))),
      delay_(base::Duration::Microseconds(options.max_queue_delay_us)),
      before_timeout_(IsTrue(config, kBatchBeforeTimeout)),
      no_waiting_alone_(config.dynamic_batching() && IsTrue(config, kNoWaitingAlone)),
      compatibility_(config),
      limits_(std::move(limits)),
      queue_(options) {
  if (limits_ != nullptr) return;  // no preferred sizes
  for (const int32_t size : options.preferred_batch_sizes) {
    preferred_.push_back(static_cast<uint64_t>(size));
    largest_preferred_ = std::max(largest_preferred_, static_cast<uint64_t>(size));
  }
}

bool DynamicPlanner::IsPreferred(uint64_t size) const {
  return std::find(preferred_.begin(), preferred_.end(), size) != preferred_.end();
}

base::Status DynamicPlanner::Push(RequestPtr& request, uint64_t now_ns) {
  const RequestQueue::Waiting* pushed = nullptr;
  NEREID_RETURN_IF_ERROR(queue_.Push(request, now_ns, &pushed));
  // The new request is ahead of the collected prefix (a higher priority level, or ahead of delayed
  // requests), so the prefix is not the front of the queue any more.
  if (prefix_.last != nullptr && !prefix_.last->InSameListOrBefore(*pushed)) ResetPrefix();
  return base::Status::Ok();
}

void DynamicPlanner::PushUnbounded(RequestPtr& request, uint64_t now_ns,
                                   const RequestQueue::Waiting** waiting) {
  // Cannot fail: without a queue policy there is no maximum size.
  (void)queue_.Push(request, now_ns, waiting);
  if (prefix_.last != nullptr && !prefix_.last->InSameListOrBefore(**waiting)) ResetPrefix();
}

// The withdrawn request may be part of the prefix.
RequestPtr DynamicPlanner::Withdraw(const RequestQueue::Waiting& waiting) {
  ResetPrefix();
  return queue_.Take(waiting);
}

bool DynamicPlanner::MayJoin(const RequestQueue::Waiting& next) {
  if (prefix_.requests == 0) {
    if (strategy_ != nullptr) {
      strategy_->Begin();
      (void)strategy_->Includes(*next.request);
    }
    return true;
  }
  const uint64_t size = prefix_.size + next.batch_size;
  if (size > prefix_.limit) {
    prefix_.closed = true;
    prefix_.closed_reason = BatchReason::kFull;
    return false;
  }
  if (!compatibility_.MayShareBatch(*queue_.First()->request, *next.request)) {
    prefix_.closed = true;
    prefix_.closed_reason = BatchReason::kShape;
    return false;
  }
  if (strategy_ != nullptr && !strategy_->Includes(*next.request)) {
    prefix_.closed = true;
    prefix_.closed_reason = BatchReason::kStrategy;
    return false;
  }
  return true;
}

// Invariant: the prefix is the first prefix_.requests requests of the queue, without gaps. A
// request that joins the queue behind `last` keeps it valid; every other change of the queue calls
// ResetPrefix.
void DynamicPlanner::Collect() {
  Prefix& prefix = prefix_;
  while (!prefix.closed) {
    const RequestQueue::Waiting* next =
        prefix.last == nullptr ? queue_.First() : queue_.After(*prefix.last);
    if (next == nullptr) return;
    const uint64_t size = prefix.size + next->batch_size;
    // The sizes jump over the largest preferred size: the requests before this one are the batch.
    if (prefix.requests > 0 && prefix.best_requests == 0 && size > largest_preferred_ &&
        size <= max_batch_size_ && largest_preferred_ > 0) {
      prefix.best_requests = prefix.requests;
      prefix.best_reason = BatchReason::kPreferredPassed;
    }
    if (!MayJoin(*next)) return;
    prefix.last = next;
    prefix.size = size;
    ++prefix.requests;
    prefix.oldest_ns = std::min(prefix.oldest_ns, next->arrival_ns);
    prefix.newest_ns = std::max(prefix.newest_ns, next->arrival_ns);
    prefix.must_run_ns = std::min(prefix.must_run_ns, MustRunBefore(*next));
    if (IsPreferred(size)) {
      prefix.best_requests = prefix.requests;
      prefix.best_reason = BatchReason::kPreferred;
    }
    if (size >= prefix.limit) {
      prefix.closed = true;
      prefix.closed_reason = BatchReason::kFull;
    }
  }
}

uint64_t DynamicPlanner::MustRunBefore(const RequestQueue::Waiting& waiting) const {
  // By default a request that the queue policy will refuse does not make its batch run sooner, as
  // in Triton.
  return waiting.refused_by_policy && !before_timeout_ ? kNever : waiting.refuse_ns;
}

void DynamicPlanner::SetLimit(uint64_t now_ns) {
  uint64_t limit = max_batch_size_;
  if (limits_ != nullptr) {
    // With priority levels the first request may not be the oldest. The limit of the next batch
    // covers that case.
    limit = std::clamp<uint64_t>(limits_->SizeLimit(queue_.First()->arrival_ns, now_ns), 1, limit);
  }
  if (prefix_.limit != limit) ResetPrefix();
  prefix_.limit = limit;
}

DynamicPlanner::Choice DynamicPlanner::ChooseByLimits(uint64_t now_ns) {
  const Prefix& prefix = prefix_;
  if (prefix.closed) return {prefix.requests, prefix.closed_reason};
  const uint64_t until_ns =
      limits_->WaitUntil({prefix.size, prefix.oldest_ns, prefix.newest_ns}, now_ns);
  if (until_ns == BatchLimits::kNoHold) return {prefix.requests, BatchReason::kNoDelay};
  if (until_ns <= now_ns) return {prefix.requests, BatchReason::kObjective};
  const uint64_t hold_end_ns = EndOfHold(prefix.must_run_ns);
  if (now_ns >= hold_end_ns) return {prefix.requests, BatchReason::kDeadline};
  return {0, BatchReason::kObjective, std::min(until_ns, hold_end_ns)};
}

DynamicPlanner::Choice DynamicPlanner::Choose(uint64_t now_ns) {
  SetLimit(now_ns);
  Collect();
  if (limits_ != nullptr) return ChooseByLimits(now_ns);
  const Prefix& prefix = prefix_;
  // The order of these checks is the rule; see the class comment.
  const uint64_t delay_end_ns = delay_.After(prefix.oldest_ns);
  const bool expired = delay_.ns() != 0 && now_ns >= delay_end_ns;
  const bool passed = largest_preferred_ > 0 && prefix.size >= largest_preferred_;
  // Before `closed`: a preferred size runs even if more requests were collected beyond it.
  if (prefix.best_requests > 0 && !expired) return {prefix.best_requests, prefix.best_reason};
  if (prefix.closed) return {prefix.requests, prefix.closed_reason};
  if (expired) return {prefix.requests, BatchReason::kDelayExpired};
  if (passed) return {prefix.requests, BatchReason::kPreferredPassed};
  if (delay_.ns() == 0) return {prefix.requests, BatchReason::kNoDelay};
  const uint64_t hold_end_ns = EndOfHold(prefix.must_run_ns);
  if (now_ns >= hold_end_ns) return {prefix.requests, BatchReason::kDeadline};
  if (no_waiting_alone_ && queue_.size() == 1 && lone_.GoesAtOnce()) {
    return {prefix.requests, BatchReason::kAlone};
  }
  return {0, BatchReason::kNoDelay, std::min(delay_end_ns, hold_end_ns)};
}

Batch DynamicPlanner::Take(size_t count, BatchReason reason, uint64_t now_ns) {
  Batch batch;
  batch.reason = reason;
  batch.oldest_arrival_ns = kNever;
  batch.requests.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const RequestQueue::Waiting& first = *queue_.First();
    batch.batch_size += first.batch_size;
    batch.oldest_arrival_ns = std::min(batch.oldest_arrival_ns, first.arrival_ns);
    batch.requests.push_back(queue_.Take(first));
  }
  batch.left_in_queue = queue_.size();
  if (limits_ != nullptr) {
    limits_->OnTaken({batch.batch_size, batch.oldest_arrival_ns, prefix_.newest_ns}, now_ns);
  }
  if (no_waiting_alone_) NoteTaken(batch, &lone_);
  ResetPrefix();
  return batch;
}

bool DynamicPlanner::DropCancelledOfFirst(size_t count, std::vector<Refusal>* refused) {
  bool any = false;
  const RequestQueue::Waiting* waiting = queue_.First();
  for (size_t i = 0; i < count; ++i) {
    const RequestQueue::Waiting* const next = queue_.After(*waiting);
    if (waiting->request->IsCancelled()) {
      ResetPrefix();  // first, because the next call may throw
      queue_.RefuseCancelled(*waiting, refused);
      any = true;
    }
    waiting = next;
  }
  return any;
}

Decision DynamicPlanner::Next(uint64_t now_ns, InstanceId /*instance*/,
                              std::vector<Refusal>* refused) {
  Decision decision;
  Expire(now_ns, refused);
  if (!gate_.IsOpen(now_ns)) {
    decision.wake_ns = gate_.OpensAt(now_ns, queue_.size());
    return decision;
  }
  while (queue_.size() > 0) {
    const Choice choice = Choose(now_ns);
    if (choice.requests == 0) {
      decision.wake_ns = choice.wake_ns;
      break;
    }
    // A cancelled request may have filled the batch: choose again without it.
    if (DropCancelledOfFirst(choice.requests, refused)) continue;
    decision.batch = Take(choice.requests, choice.reason, now_ns);
    break;
  }
  return decision;
}

uint64_t DynamicPlanner::ReadyAt(uint64_t now_ns, InstanceId /*instance*/) {
  if (queue_.size() == 0) return kNever;
  if (!gate_.IsOpen(now_ns)) return gate_.OpensAt(now_ns, queue_.size());
  const Choice choice = Choose(now_ns);
  return choice.requests > 0 ? now_ns : choice.wake_ns;
}

void DynamicPlanner::Expire(uint64_t now_ns, std::vector<Refusal>* refused) {
  if (queue_.NextExpiry() > now_ns) return;
  ResetPrefix();  // first, because the next call may throw
  queue_.Expire(now_ns, refused);
}

RequestPtr DynamicPlanner::DropFirst(uint64_t /*now_ns*/) {
  ResetPrefix();
  return queue_.TakeFirst();
}

void DynamicPlanner::Drain(uint64_t /*now_ns*/) { gate_.Open(); }

void DynamicPlanner::DropCancelled(uint64_t /*now_ns*/, std::vector<Refusal>* refused) {
  ResetPrefix();
  queue_.DropCancelled(refused);
}

void DynamicPlanner::DropAll(const base::Status& error, std::vector<Refusal>* refused) {
  ResetPrefix();
  queue_.DropAll(error, refused);
}

}  // namespace nereid::schedule
