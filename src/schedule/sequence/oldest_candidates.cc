// SPDX-License-Identifier: Apache-2.0
#include "schedule/sequence/oldest_candidates.h"

#include <utility>

namespace nereid::schedule {
namespace {

config::DynamicBatchingOptions BatchingOf(const config::OldestStrategy& strategy) {
  config::DynamicBatchingOptions options;
  options.preferred_batch_sizes = strategy.preferred_batch_sizes;
  options.max_queue_delay_us = strategy.max_queue_delay_us;
  return options;
}

}  // namespace

OldestCandidates::OldestCandidates(const config::ModelConfig& config,
                                   const config::OldestStrategy& strategy)
    : planner_(config, BatchingOf(strategy)),
      order_(strategy.preserve_ordering ? std::make_shared<ResponseOrder>() : nullptr) {}

void OldestCandidates::Add(Sequence& sequence, uint64_t now_ns) {
  Sequence::Waiting& first = sequence.queue.front();
  // The place is reserved here and not at the arrival: a request in the backlog would otherwise
  // hold back responses of the sequences that must end before it gets a slot. A rescheduled request
  // keeps its place.
  if (order_ != nullptr && !first.ordered) order_->Reserve(*first.request->response_factory());
  first.ordered = true;
  candidates_.emplace(sequence.handle, &sequence);
  planner_.PushUnbounded(std::move(first.request), now_ns, &sequence.candidate);
}

void OldestCandidates::Remove(Sequence& sequence) {
  TakeBack(planner_.Withdraw(*sequence.candidate));
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
  Decision decision = planner_.Next(now_ns, 0);
  Pick pick;
  pick.wake_ns = decision.wake_ns;
  for (Refusal& refusal : decision.refused) {
    pick.cancelled.push_back(TakeBack(std::move(refusal.request)));
  }
  if (!decision.batch) return pick;
  pick.reason = decision.batch->reason;
  pick.oldest_ns = decision.batch->oldest_arrival_ns;
  for (RequestPtr& request : decision.batch->requests) {
    pick.rows.push_back(TakeBack(std::move(request)));
  }
  return pick;
}

}  // namespace nereid::schedule
