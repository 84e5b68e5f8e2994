// SPDX-License-Identifier: Apache-2.0
#include "schedule/sequence/oldest_candidates.h"

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

namespace nereid::schedule {
namespace {

config::DynamicBatchingOptions BatchingOf(const config::OldestStrategy& strategy) {
  config::DynamicBatchingOptions options;
  options.preferred_batch_sizes = strategy.preferred_batch_sizes;
  options.max_queue_delay_us = strategy.max_queue_delay_us;
  return options;
}

bool TryReserve(std::vector<Sequence*>& sequences, size_t count) {
  try {
    sequences.reserve(count);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

}  // namespace

OldestCandidates::OldestCandidates(const config::ModelConfig& config,
                                   const config::OldestStrategy& strategy)
    : max_batch_size_(static_cast<size_t>(std::max(1, config.max_batch_size()))),
      planner_(config, BatchingOf(strategy)),
      order_(strategy.preserve_ordering ? std::make_shared<ResponseOrder>() : nullptr) {}

void OldestCandidates::Add(Sequence& sequence, uint64_t now_ns) {
  Sequence::Waiting& first = sequence.queue.front();
  // The place is reserved here and not at the arrival: a request in the backlog would otherwise
  // hold back responses of the sequences that must end before it gets a slot. A rescheduled request
  // keeps its place.
  if (order_ != nullptr && !first.ordered) order_->Reserve(*first.request->response_factory());
  first.ordered = true;
  const auto candidate = candidates_.emplace(sequence.handle, &sequence).first;
  try {
    planner_.PushUnbounded(first.request, now_ns, &sequence.candidate);
  } catch (...) {
    candidates_.erase(candidate);
    throw;
  }
}

void OldestCandidates::Remove(Sequence& sequence) {
  // See Choose: after a failed allocation a cancelled sequence is no candidate any more.
  if (sequence.candidate != nullptr) TakeBack(planner_.Withdraw(*sequence.candidate));
}

Sequence* OldestCandidates::TakeBack(RequestPtr request) {
  const auto found = candidates_.find(request->sequence_handle);
  // The request returns to its own queue: whether it is handed out or refused is decided there.
  Sequence* const sequence = found->second;
  candidates_.erase(found);
  sequence->candidate = nullptr;
  sequence->queue.front().request = std::move(request);
  return sequence;
}

ReadySequences::Pick OldestCandidates::Choose(uint64_t now_ns) {
  Pick pick;
  // Before any request leaves planner_; a batch has at most max_batch_size rows.
  pick.rows.reserve(std::min(candidates_.size(), max_batch_size_));
  std::vector<Refusal> cancelled;
  Decision decision;
  // A sequence that cannot be reported as cancelled for want of memory stays ready, but is no
  // candidate. BatchPlanner::DropCancelled finds its request in its own queue.
  try {
    decision = planner_.Next(now_ns, 0, &cancelled);
  } catch (...) {
    for (Refusal& refusal : cancelled) TakeBack(std::move(refusal.request));
    throw;
  }
  const bool reported = TryReserve(pick.cancelled, cancelled.size());
  for (Refusal& refusal : cancelled) {
    Sequence* const sequence = TakeBack(std::move(refusal.request));
    if (reported) pick.cancelled.push_back(sequence);
  }
  pick.wake_ns = decision.wake_ns;
  if (!decision.batch) return pick;
  pick.reason = decision.batch->reason;
  pick.oldest_ns = decision.batch->oldest_arrival_ns;
  for (RequestPtr& request : decision.batch->requests) {
    pick.rows.push_back(TakeBack(std::move(request)));
  }
  pick.requests = std::move(decision.batch->requests);
  return pick;
}

}  // namespace nereid::schedule
