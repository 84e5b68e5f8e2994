// SPDX-License-Identifier: Apache-2.0
#include "schedule/dynamic/dynamic_planner.h"

#include <algorithm>

namespace nereid::schedule {
namespace {

uint64_t BatchSize(const request::InferenceRequest& request) {
  return std::max<uint64_t>(1, request.batch_size);
}

/// Microseconds as nanoseconds; a delay too long for 64 bits is "for ever".
uint64_t DelayNs(uint64_t us) { return us > UINT64_MAX / 1000 ? UINT64_MAX : us * 1000; }

}  // namespace

DynamicPlanner::DynamicPlanner(const config::ModelConfig& config)
    : max_batch_size_(std::max(1, config.max_batch_size())),
      delay_ns_(DelayNs(config.dynamic_batching()->max_queue_delay_us)),
      compatibility_(config) {
  for (const int32_t size : config.dynamic_batching()->preferred_batch_sizes) {
    preferred_.push_back(static_cast<uint64_t>(size));
    largest_preferred_ = std::max(largest_preferred_, static_cast<uint64_t>(size));
  }
}

void DynamicPlanner::Push(RequestPtr request, uint64_t now_ns) {
  queue_.push_back({std::move(request), now_ns});
}

bool DynamicPlanner::IsPreferred(uint64_t size) const {
  return std::find(preferred_.begin(), preferred_.end(), size) != preferred_.end();
}

DynamicPlanner::Prefix DynamicPlanner::Collect() const {
  Prefix prefix;
  uint64_t size = 0;
  for (const Queued& queued : queue_) {
    const uint64_t next = BatchSize(*queued.request);
    if (prefix.requests > 0) {
      if (size + next > max_batch_size_) {
        prefix.closed = true;
        prefix.closed_reason = BatchReason::kFull;
        break;
      }
      if (prefix.best_requests == 0 && largest_preferred_ > 0 && size + next > largest_preferred_) {
        prefix.best_requests = prefix.requests;
        prefix.best_reason = BatchReason::kFull;
      }
      if (!compatibility_.MayShareBatch(*queue_.front().request, *queued.request)) {
        prefix.closed = true;
        prefix.closed_reason = BatchReason::kShape;
        break;
      }
    }
    size += next;
    ++prefix.requests;
    if (IsPreferred(size)) {
      prefix.best_requests = prefix.requests;
      prefix.best_reason = BatchReason::kPreferred;
    }
  }
  // Nothing larger can be hoped for once the largest preferred size is there or passed.
  if (!prefix.closed && prefix.requests > 0 &&
      (size >= max_batch_size_ || (largest_preferred_ > 0 && size >= largest_preferred_))) {
    prefix.closed = true;
    prefix.closed_reason = BatchReason::kFull;
  }
  return prefix;
}

Batch DynamicPlanner::Take(size_t count, BatchReason reason) {
  Batch batch;
  batch.reason = reason;
  batch.requests.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    batch.requests.push_back(std::move(queue_.front().request));
    queue_.pop_front();
  }
  return batch;
}

Decision DynamicPlanner::Next(uint64_t now_ns) {
  Decision decision;
  if (queue_.empty()) return decision;
  const Prefix prefix = Collect();
  const uint64_t waited = now_ns - std::min(now_ns, queue_.front().arrival_ns);
  const bool expired = delay_ns_ != 0 && waited >= delay_ns_;
  if (prefix.best_requests > 0 && !expired) {
    decision.batch = Take(prefix.best_requests, prefix.best_reason);
  } else if (prefix.closed) {
    decision.batch = Take(prefix.requests, prefix.closed_reason);
  } else if (expired || delay_ns_ == 0) {
    decision.batch =
        Take(prefix.requests, expired ? BatchReason::kDelayExpired : BatchReason::kNoDelay);
  } else {
    const uint64_t remaining = delay_ns_ - waited;
    decision.wake_ns = remaining > UINT64_MAX - now_ns ? UINT64_MAX : now_ns + remaining;
  }
  return decision;
}

}  // namespace nereid::schedule
