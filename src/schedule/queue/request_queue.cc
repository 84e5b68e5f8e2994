// SPDX-License-Identifier: Apache-2.0
#include "schedule/queue/request_queue.h"

#include <algorithm>
#include <iterator>

namespace nereid::schedule {

using config::QueuePolicy;

namespace {

constexpr size_t kKeptNodes = 64;

uint64_t TimeoutUs(const QueuePolicy& policy, const request::InferenceRequest& request) {
  const uint64_t own = request.timeout_us;
  // A client may shorten the timeout, but neither extend it nor set one where the policy has none;
  // Triton does the same.
  const bool shorter = own != 0 && own < policy.default_timeout_us;
  return policy.allow_timeout_override && shorter ? own : policy.default_timeout_us;
}

/// Returns the refusal of a request whose time is over. A passed client deadline is reported as a
/// cancellation, because the front end, which watches the deadline too, cancels the request.
Refusal Expired(RequestPtr request, bool by_policy) {
  if (by_policy) {
    // Triton's text, which lacks the request's id.
    return {std::move(request), base::Status::Unavailable("Request timeout expired"),
            telemetry::FailureReason::kRejected};
  }
  base::Status error = base::Status::Cancelled(
      request->LogPrefix() + "Request deadline expired before an instance was free");
  return {std::move(request), std::move(error), telemetry::FailureReason::kCanceled};
}

}  // namespace

RequestQueue::RequestQueue() : level_count_(0), default_level_(0) {}

RequestQueue::RequestQueue(const config::DynamicBatchingOptions& options)
    : level_count_(options.priority_levels),
      default_level_(options.priority_levels == 0 ? 0 : options.default_priority_level),
      default_policy_(options.default_queue_policy),
      policies_(options.priority_queue_policies) {}

uint64_t RequestQueue::LevelOf(uint64_t priority) const {
  return priority == 0 || priority > level_count_ ? default_level_ : priority;
}

RequestQueue::Level& RequestQueue::FindOrAddLevel(uint64_t number) {
  if (const auto found = levels_.find(number); found != levels_.end()) return found->second;
  // Doubling the threshold keeps the cost of pruning constant per added level. Pointers to levels
  // are not kept, and the level of a waiting request is never empty.
  if (levels_.size() >= prune_at_) {
    std::erase_if(levels_, [](const auto& level) { return level.second.empty(); });
    prune_at_ = std::max(kKeptLevels, 2 * levels_.size());
  }
  Level& level = levels_[number];
  const auto policy = policies_.find(number);
  level.policy = policy == policies_.end() ? default_policy_ : policy->second;
  return level;
}

void RequestQueue::SetTimes(const QueuePolicy& policy, Waiting* waiting) {
  const request::InferenceRequest& request = *waiting->request;
  const uint64_t timeout_us = TimeoutUs(policy, request);
  const uint64_t timeout_ns =
      timeout_us == 0 ? kNever : SaturatingAdd(waiting->arrival_ns, MicrosecondsToNs(timeout_us));
  const bool moves = policy.timeout_action == QueuePolicy::TimeoutAction::kDelay;
  const uint64_t deadline_ns = request.deadline_ns == 0 ? kNever : request.deadline_ns;
  waiting->move_ns = moves ? timeout_ns : kNever;
  waiting->refuse_ns = moves ? deadline_ns : std::min(timeout_ns, deadline_ns);
  waiting->refused_by_policy = !moves && timeout_ns <= deadline_ns;
}

base::Status RequestQueue::Push(RequestPtr& request, uint64_t now_ns, const Waiting** pushed) {
  const uint64_t number = LevelOf(request->priority);
  Level& level = FindOrAddLevel(number);
  if (level.policy.max_queue_size != 0 &&
      level.waiting.size() + level.delayed.size() >= level.policy.max_queue_size) {
    return base::Status::Unavailable(request->LogPrefix() + "Exceeds maximum queue size");
  }
  if (spare_.empty()) spare_.emplace_back();
  level.waiting.splice(level.waiting.end(), spare_, spare_.begin());
  Waiting& waiting = level.waiting.back();
  waiting.request = std::move(request);
  waiting.batch_size = std::max<uint64_t>(1, waiting.request->batch_size);
  waiting.arrival_ns = now_ns;
  waiting.level = number;
  waiting.delayed = false;
  waiting.number = next_number_++;
  waiting.self = std::prev(level.waiting.end());
  SetTimes(level.policy, &waiting);
  AddExpiry(waiting);
  ++size_;
  if (pushed != nullptr) *pushed = &waiting;
  return base::Status::Ok();
}

// The order of service: for each level in order, its waiting requests, then its delayed ones.
// After() follows the same order.
const RequestQueue::Waiting* RequestQueue::First() const {
  for (const auto& [number, level] : levels_) {
    if (!level.waiting.empty()) return &level.waiting.front();
    if (!level.delayed.empty()) return &level.delayed.front();
  }
  return nullptr;
}

const RequestQueue::Waiting* RequestQueue::After(const Waiting& waiting) const {
  auto level = levels_.find(waiting.level);
  const Line& line = waiting.delayed ? level->second.delayed : level->second.waiting;
  if (const auto next = std::next(Line::const_iterator(waiting.self)); next != line.end()) {
    return &*next;
  }
  if (!waiting.delayed && !level->second.delayed.empty()) return &level->second.delayed.front();
  while (++level != levels_.end()) {
    if (!level->second.waiting.empty()) return &level->second.waiting.front();
    if (!level->second.delayed.empty()) return &level->second.delayed.front();
  }
  return nullptr;
}

// The list node is reused with its position: splicing allocates nothing and keeps iterators valid.
RequestPtr RequestQueue::Take(const Waiting& taken) {
  Level& level = levels_.find(taken.level)->second;
  Line& line = taken.delayed ? level.delayed : level.waiting;
  const Line::iterator position = taken.self;
  RemoveExpiry(*position);
  RequestPtr request = std::move(position->request);
  if (spare_.size() < kKeptNodes) {
    spare_.splice(spare_.end(), line, position);
  } else {
    line.erase(position);
  }
  --size_;
  return request;
}

void RequestQueue::AddExpiry(Waiting& waiting) {
  const uint64_t ns = ExpiryOf(waiting);
  if (ns != kNever) expiries_.insert({ns, waiting.number, &waiting});
}

void RequestQueue::RemoveExpiry(Waiting& waiting) {
  const uint64_t ns = ExpiryOf(waiting);
  if (ns != kNever) expiries_.erase({ns, waiting.number, &waiting});
}

bool RequestQueue::Expire(uint64_t now_ns, std::vector<Refusal>* refused) {
  bool changed = false;
  while (!expiries_.empty() && expiries_.begin()->ns <= now_ns) {
    Waiting& waiting = *expiries_.begin()->waiting;
    changed = true;
    if (waiting.refuse_ns <= now_ns) {
      const bool by_policy = waiting.refused_by_policy;
      refused->push_back(Expired(Take(waiting), by_policy));
      continue;
    }
    // The request moves once: its move time is cleared, its refusal time stays.
    RemoveExpiry(waiting);
    waiting.move_ns = kNever;
    AddExpiry(waiting);
    Level& level = levels_.find(waiting.level)->second;
    level.delayed.splice(level.delayed.end(), level.waiting, waiting.self);
    waiting.delayed = true;
  }
  return changed;
}

Refusal RequestQueue::TakeCancelled(const Waiting& waiting) {
  RequestPtr request = Take(waiting);
  base::Status error = base::Status::Cancelled(request->LogPrefix() + "Request was cancelled");
  return {std::move(request), std::move(error), telemetry::FailureReason::kCanceled};
}

bool RequestQueue::DropCancelled(std::vector<Refusal>* refused) {
  bool changed = false;
  for (const Waiting* waiting = First(); waiting != nullptr;) {
    const Waiting* const next = After(*waiting);
    if (waiting->request->IsCancelled()) {
      refused->push_back(TakeCancelled(*waiting));
      changed = true;
    }
    waiting = next;
  }
  return changed;
}

void RequestQueue::DropAll(const base::Status& error, std::vector<Refusal>* refused) {
  while (const Waiting* waiting = First()) {
    base::Status own = error.WithPrefix(waiting->request->LogPrefix());
    refused->push_back({Take(*waiting), std::move(own), telemetry::FailureReason::kOther});
  }
}

}  // namespace nereid::schedule
