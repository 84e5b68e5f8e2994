// SPDX-License-Identifier: Apache-2.0
#include "schedule/sequence/direct_slots.h"

#include <algorithm>

namespace nereid::schedule {
namespace {

/// A batch is not held back when less than this is left until a request's deadline.
constexpr uint64_t kDeadlineMarginNs = 1'000'000;

}  // namespace

DirectSlots::DirectSlots(const config::DirectStrategy& strategy, uint32_t slots,
                         const BatchCompatibility& compatibility)
    : slots_(slots),
      delay_(base::Duration::Microseconds(strategy.max_queue_delay_us)),
      utilization_(strategy.minimum_slot_utilization),
      compatibility_(compatibility) {}

void DirectSlots::Add(Sequence& sequence, uint64_t now_ns) {
  const auto age = by_age_.emplace(now_ns, sequence.slot).first;
  try {
    ready_.emplace(sequence.slot, Ready{&sequence, now_ns});
  } catch (...) {
    by_age_.erase(age);
    throw;
  }
}

void DirectSlots::Remove(Sequence& sequence) {
  const auto found = ready_.find(sequence.slot);
  by_age_.erase({found->second.since_ns, sequence.slot});
  ready_.erase(found);
}

uint64_t DirectSlots::HoldUntil(uint64_t now_ns, BatchReason* reason) const {
  *reason = BatchReason::kReadySlots;
  if (delay_.ns() == 0 || utilization_ <= 0) return now_ns;
  *reason = BatchReason::kUtilization;
  if (static_cast<float>(ready_.size()) / static_cast<float>(slots_) >= utilization_) return now_ns;
  const uint64_t since_ns = by_age_.begin()->first;
  const uint64_t delay_end_ns = delay_.After(since_ns);
  *reason = BatchReason::kDelayExpired;
  if (delay_end_ns <= now_ns) return now_ns;
  *reason = BatchReason::kDeadline;
  uint64_t until_ns = delay_end_ns;
  // The batch must run before the deadline of any request in it.
  for (const auto& [slot, ready] : ready_) {
    const uint64_t deadline_ns = ready.sequence->queue.front().deadline_ns;
    if (deadline_ns == kNever) continue;
    until_ns = std::min(until_ns, deadline_ns - std::min(deadline_ns, kDeadlineMarginNs));
  }
  return std::max(until_ns, now_ns);
}

uint64_t DirectSlots::ReadyAt(uint64_t now_ns) {
  BatchReason reason;
  return ready_.empty() ? kNever : HoldUntil(now_ns, &reason);
}

bool DirectSlots::CollectCancelled(Pick* pick) {
  for (const auto& [slot, ready] : ready_) {
    if (ready.sequence->queue.front().request->IsCancelled()) {
      pick->cancelled.push_back(ready.sequence);
    }
  }
  for (Sequence* sequence : pick->cancelled) Remove(*sequence);
  return !pick->cancelled.empty();
}

ReadySequences::Pick DirectSlots::Choose(uint64_t now_ns) {
  Pick pick;
  if (CollectCancelled(&pick) || ready_.empty()) return pick;
  const uint64_t until_ns = HoldUntil(now_ns, &pick.reason);
  if (until_ns > now_ns) {
    pick.wake_ns = until_ns;
    return pick;
  }
  // The request that has been ready for longest sets the shapes, so no slot waits forever behind
  // slots of another shape.
  pick.oldest_ns = by_age_.begin()->first;
  const request::InferenceRequest& reference =
      *ready_.at(by_age_.begin()->second).sequence->queue.front().request;
  for (const auto& [slot, ready] : ready_) {
    const request::InferenceRequest& request = *ready.sequence->queue.front().request;
    if (&request != &reference && !compatibility_.MayShareBatch(reference, request)) continue;
    pick.rows.resize(slot + 1);
    pick.rows[slot] = ready.sequence;
  }
  pick.requests.resize(pick.rows.size());
  for (Sequence* sequence : pick.rows) {
    if (sequence != nullptr) Remove(*sequence);
  }
  return pick;
}

}  // namespace nereid::schedule
