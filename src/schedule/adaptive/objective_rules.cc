// SPDX-License-Identifier: Apache-2.0
#include "schedule/adaptive/objective_rules.h"

#include <algorithm>

namespace nereid::schedule {

namespace {

constexpr double kDecrease = 0.9;
constexpr double kMinGain = 0.01;  // 1 % of the cost of a request
// A model whose requests can save less than this part of their cost is not worth any wait.
constexpr double kMinSaving = 0.1;
// Of requests that arrive at random, 98 % arrive within four mean gaps.
constexpr double kGapsToWait = 4;
constexpr double kGapWeight = 1.0 / 8;
// Then at most a 128th of the time is spent in holds that bring no request.
constexpr uint32_t kMaxEmptyHolds = 7;
// With kDecrease, balanced at about one late answer in a hundred.
constexpr double kSpareShareRise = 0.001;
constexpr double kMinSpareShare = 0.05;

}  // namespace

ObjectiveRules::ObjectiveRules(uint64_t objective_ns, uint64_t max_batch_size)
    : objective_ns_(objective_ns), max_batch_size_(std::max<uint64_t>(1, max_batch_size)) {}

uint64_t ObjectiveRules::SizeLimit(uint64_t oldest_ns, uint64_t now_ns) const {
  const bool lost = now_ns > oldest_ns && now_ns - oldest_ns > objective_ns_;
  return lost ? max_batch_size_ : static_cast<uint64_t>(limit_);
}

uint64_t ObjectiveRules::WaitUntil(const FormingBatch& batch, uint64_t now_ns) {
  // No reason to wait: costs are unknown, or one more request would not make the others cheaper.
  if (!cost_.known() || cost_.LargestSaving() < kMinSaving) return now_ns;
  if (cost_.GainOfNextRequest(batch.size) < kMinGain) return now_ns;
  const uint64_t execution_ns = cost_.UpperNs(batch.size + 1);
  if (execution_ns >= objective_ns_) return now_ns;
  const double spare_ns = spare_share_ * static_cast<double>(objective_ns_ - execution_ns);
  const uint64_t deadline_ns = batch.oldest_ns + static_cast<uint64_t>(spare_ns);
  if (gap_ns_ == 0) {
    gap_ns_ = static_cast<double>(std::min(objective_ns_ / 4, cost_.ExpectedNs(batch.size)));
  }
  const uint64_t until_ns = std::min(deadline_ns, batch.newest_ns + static_cast<uint64_t>(gap_ns_));
  if (until_ns <= now_ns) return now_ns;
  // A new wait begins, unless earlier waits brought nothing and waiting is suspended.
  if (!held_) {
    if (now_ns < no_hold_until_ns_) return now_ns;
    held_ = batch;
    held_since_ns_ = now_ns;
  }
  return until_ns;
}

void ObjectiveRules::OnTaken(const FormingBatch& batch, uint64_t now_ns) {
  if (!held_) return;
  LearnGap(batch, now_ns);
  held_.reset();
}

void ObjectiveRules::LearnGap(const FormingBatch& batch, uint64_t now_ns) {
  if (batch.size <= held_->size) {
    // The wait brought no request. The pause after it is 2, 4, … 128 times as long as the wait.
    empty_holds_ = std::min(empty_holds_ + 1, kMaxEmptyHolds);
    no_hold_until_ns_ = now_ns + ((now_ns - held_since_ns_) << empty_holds_);
    const double longest_ns = static_cast<double>(objective_ns_) / 4;
    if (!gap_known_) gap_ns_ = std::max(gap_ns_, std::min(2 * gap_ns_, longest_ns));
    return;
  }
  empty_holds_ = 0;
  const uint64_t span_ns = batch.newest_ns - std::min(batch.newest_ns, held_->newest_ns);
  const double gap_ns =
      static_cast<double>(span_ns) / static_cast<double>(batch.size - held_->size);
  gap_known_ = true;
  gap_ns_ += kGapWeight * (kGapsToWait * gap_ns - gap_ns_);
}

void ObjectiveRules::OnExecuted(uint64_t size, uint64_t wait_ns, uint64_t execution_ns,
                                uint64_t /*now_ns*/) {
  cost_.Record(size, execution_ns);
  const bool late = wait_ns + execution_ns > objective_ns_;
  // A wait beyond the whole objective means that instances were busy; holding batches back did not
  // cause it.
  if (!late) {
    spare_share_ = std::min(1.0, spare_share_ + kSpareShareRise);
  } else if (wait_ns <= objective_ns_) {
    spare_share_ = std::max(kMinSpareShare, spare_share_ * kDecrease);
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

void ObjectiveRules::SetLimit(double limit) {
  limit_ = std::clamp(limit, 1.0, static_cast<double>(max_batch_size_));
}

}  // namespace nereid::schedule
