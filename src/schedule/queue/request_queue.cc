// SPDX-License-Identifier: Apache-2.0
#include "schedule/queue/request_queue.h"

#include <algorithm>
#include <iterator>

namespace nereid::schedule {

using config::QueuePolicy;

namespace {

constexpr size_t kMaxSpareNodes = 64;

uint64_t TimeoutUs(const QueuePolicy& policy, const request::InferenceRequest& request) {
  const uint64_t own = request.timeout_us;
  // A client may shorten the timeout, but neither extend it nor set one where the policy has none;
  // Triton does the same.
  const bool shorter = own != 0 && own < policy.default_timeout_us;
  return policy.allow_timeout_override && shorter ? own : policy.default_timeout_us;
}

/// Returns the refusal of a request whose time is over, without the request itself. A passed client
/// deadline is reported as a cancellation, because the front end, which watches the deadline too,
/// cancels the request.
Refusal Expired(const request::InferenceRequest& request, bool by_policy) {
  if (by_policy) {
    // Triton's text, which lacks the request's id.
    return {nullptr, base::Status::Unavailable("Request timeout expired"),
            telemetry::FailureReason::kRejected};
  }
  return {nullptr,
          base::Status::Cancelled(request.LogPrefix() +
                                  "Request deadline expired before an instance was free"),
          telemetry::FailureReason::kCanceled};
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
    prune_at_ = std::max(kMinPrunedLevels, 2 * levels_.size());
  }
  Level& level = levels_[number];
  const auto policy = policies_.find(number);
  level.policy = policy == policies_.end() ? default_policy_ : policy->second;
  return level;
}

void RequestQueue::SetTimes(const QueuePolicy& policy, const request::InferenceRequest& request,
                            Waiting* waiting) {
  const uint64_t timeout_us = TimeoutUs(policy, request);
  const uint64_t timeout_ns =
      timeout_us == 0 ? kNever
                      : base::Duration::Microseconds(timeout_us).After(waiting->arrival_ns);
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
  const Requests::iterator position = spare_.begin();
  Waiting& waiting = *position;
  waiting.batch_size = std::max<uint64_t>(1, request->batch_size);
  waiting.arrival_ns = now_ns;
  waiting.level = number;
  waiting.delayed = false;
  waiting.number = next_number_++;
  waiting.self = position;
  SetTimes(level.policy, *request, &waiting);
  AddExpiry(waiting);
  // Nothing below allocates.
  level.waiting.splice(level.waiting.end(), spare_, position);
  waiting.request = std::move(request);
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
  const Requests& list = waiting.delayed ? level->second.delayed : level->second.waiting;
  if (const auto next = std::next(Requests::const_iterator(waiting.self)); next != list.end()) {
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
  Requests& list = taken.delayed ? level.delayed : level.waiting;
  const Requests::iterator position = taken.self;
  RemoveExpiry(*position);
  RequestPtr request = std::move(position->request);
  if (spare_.size() < kMaxSpareNodes) {
    spare_.splice(spare_.end(), list, position);
  } else {
    list.erase(position);
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

RequestPtr RequestQueue::TakeFirst() {
  const Waiting* const first = First();
  return first == nullptr ? nullptr : Take(*first);
}

// The refusal is complete, and has its place in the vector, before the request leaves the queue.
void RequestQueue::Refuse(const Waiting& waiting, Refusal refusal, std::vector<Refusal>* refused) {
  refused->push_back(std::move(refusal));
  refused->back().request = Take(waiting);
}

void RequestQueue::Expire(uint64_t now_ns, std::vector<Refusal>* refused) {
  while (!expiries_.empty() && expiries_.begin()->ns <= now_ns) {
    Waiting& waiting = *expiries_.begin()->waiting;
    if (waiting.refuse_ns <= now_ns) {
      Refuse(waiting, Expired(*waiting.request, waiting.refused_by_policy), refused);
      continue;
    }
    // The request moves once: its move time is cleared, its refusal time stays.
    auto expiry = expiries_.extract(expiries_.begin());
    waiting.move_ns = kNever;
    expiry.value().ns = ExpiryOf(waiting);
    if (expiry.value().ns != kNever) expiries_.insert(std::move(expiry));
    Level& level = levels_.find(waiting.level)->second;
    level.delayed.splice(level.delayed.end(), level.waiting, waiting.self);
    waiting.delayed = true;
  }
}

void RequestQueue::RefuseCancelled(const Waiting& waiting, std::vector<Refusal>* refused) {
  Refuse(waiting,
         {nullptr, base::Status::Cancelled(waiting.request->LogPrefix() + "Request was cancelled"),
          telemetry::FailureReason::kCanceled},
         refused);
}

void RequestQueue::DropCancelled(std::vector<Refusal>* refused) {
  for (const Waiting* waiting = First(); waiting != nullptr;) {
    const Waiting* const next = After(*waiting);
    if (waiting->request->IsCancelled()) RefuseCancelled(*waiting, refused);
    waiting = next;
  }
}

void RequestQueue::DropAll(const base::Status& error, std::vector<Refusal>* refused) {
  while (const Waiting* waiting = First()) {
    Refuse(*waiting,
           {nullptr, error.WithPrefix(waiting->request->LogPrefix()),
            telemetry::FailureReason::kOther},
           refused);
  }
}

}  // namespace nereid::schedule
