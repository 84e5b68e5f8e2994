// SPDX-License-Identifier: Apache-2.0
#include "schedule/adaptive/latency_objective.h"

#include <algorithm>

#include "base/parse_number.h"

namespace nereid::schedule {

using base::Status;

namespace {

constexpr uint64_t kLeastObjectiveUs = 100;
constexpr uint64_t kMostObjectiveUs = 3'600'000'000;  // an hour

constexpr double kDecrease = 0.9;
constexpr double kLeastGain = 0.01;  // 1 % of the cost of a request
// Of requests that arrive at random, 98 % arrive within four mean gaps.
constexpr double kGapsToWait = 4;
constexpr double kGapWeight = 1.0 / 8;
// Then at most a 128th of the time is spent in fruitless waits.
constexpr uint32_t kMostFruitless = 7;
// With kDecrease, balanced at about one late answer in a hundred.
constexpr double kPatienceRise = 0.001;
constexpr double kLeastPatience = 0.05;

}  // namespace

base::Result<std::optional<uint64_t>> ReadLatencyObjective(const config::ModelConfig& config) {
  const std::string* const text = config.FindParameter(kLatencyObjectiveParameter);
  if (text == nullptr) return std::optional<uint64_t>();
  const std::string prefix =
      "model '" + config.name() + "': parameter '" + kLatencyObjectiveParameter + "' ";
  const auto us = base::ParseWhole<uint64_t>(*text);
  if (!us || *us < kLeastObjectiveUs || *us > kMostObjectiveUs) {
    return Status::InvalidArgument(prefix + "is '" + *text + "', but must be an integer from " +
                                   std::to_string(kLeastObjectiveUs) + " to " +
                                   std::to_string(kMostObjectiveUs));
  }
  if (!config.dynamic_batching()) {
    return Status::InvalidArgument(prefix +
                                   "needs dynamic_batching, which the model does not have");
  }
  return std::optional<uint64_t>(*us * 1000);
}

LatencyObjective::LatencyObjective(uint64_t objective_ns, uint64_t max_batch_size)
    : objective_ns_(objective_ns),
      max_batch_size_(std::max<uint64_t>(1, max_batch_size)),
      gap_ns_(static_cast<double>(objective_ns) / 4) {}

uint64_t LatencyObjective::SizeLimit(uint64_t oldest_ns, uint64_t now_ns) const {
  const bool lost = now_ns > oldest_ns && now_ns - oldest_ns > objective_ns_;
  return lost ? max_batch_size_ : static_cast<uint64_t>(limit_);
}

uint64_t LatencyObjective::WaitUntil(const FormingBatch& batch, uint64_t now_ns) {
  // No reason to wait: costs are unknown, or one more request would not make the others cheaper.
  if (!cost_.known() || cost_.GainOfOneMore(batch.size) < kLeastGain) return now_ns;
  const uint64_t execution_ns = cost_.UpperNs(batch.size + 1);
  if (execution_ns >= objective_ns_) return now_ns;
  const double spare_ns = patience_ * static_cast<double>(objective_ns_ - execution_ns);
  const uint64_t deadline_ns = batch.oldest_ns + static_cast<uint64_t>(spare_ns);
  const uint64_t until_ns = std::min(deadline_ns, batch.newest_ns + static_cast<uint64_t>(gap_ns_));
  if (until_ns <= now_ns) return now_ns;
  // A new wait begins, unless earlier waits brought nothing and waiting is suspended.
  if (!held_) {
    if (now_ns < quiet_until_ns_) return now_ns;
    held_ = batch;
    held_since_ns_ = now_ns;
  }
  return until_ns;
}

void LatencyObjective::OnTaken(const FormingBatch& batch, uint64_t now_ns) {
  if (!held_) return;
  LearnGap(batch, now_ns);
  held_.reset();
}

void LatencyObjective::LearnGap(const FormingBatch& batch, uint64_t now_ns) {
  if (batch.size <= held_->size) {
    // The wait brought no request. The pause after it is 2, 4, … 128 times as long as the wait.
    fruitless_ = std::min(fruitless_ + 1, kMostFruitless);
    quiet_until_ns_ = now_ns + ((now_ns - held_since_ns_) << fruitless_);
    return;
  }
  fruitless_ = 0;
  const uint64_t span_ns = batch.newest_ns - std::min(batch.newest_ns, held_->newest_ns);
  const double gap_ns =
      static_cast<double>(span_ns) / static_cast<double>(batch.size - held_->size);
  gap_ns_ += kGapWeight * (kGapsToWait * gap_ns - gap_ns_);
}

void LatencyObjective::OnExecuted(uint64_t size, uint64_t wait_ns, uint64_t execution_ns) {
  cost_.Record(size, execution_ns);
  const bool late = wait_ns + execution_ns > objective_ns_;
  // A wait beyond the whole objective means that instances were busy; holding batches back did not
  // cause it.
  if (!late) {
    patience_ = std::min(1.0, patience_ + kPatienceRise);
  } else if (wait_ns <= objective_ns_) {
    patience_ = std::max(kLeastPatience, patience_ * kDecrease);
  }
  const auto batch = static_cast<double>(size);
  // The limit did not apply to this batch, so it says nothing about the limit.
  if (batch > limit_ + 1) return;
  // Additive increase, only for batches that used the limit; multiplicative decrease.
  if (execution_ns > objective_ns_ / 2) {
    SetLimit(std::min(limit_, batch) * kDecrease);
  } else if (batch >= static_cast<double>(static_cast<uint64_t>(limit_))) {
    SetLimit(limit_ + 1);
  }
}

void LatencyObjective::SetLimit(double limit) {
  limit_ = std::clamp(limit, 1.0, static_cast<double>(max_batch_size_));
  published_limit_.store(static_cast<uint64_t>(limit_), std::memory_order_relaxed);
}

}  // namespace nereid::schedule
