// SPDX-License-Identifier: Apache-2.0
#include "rollout/shadow_traffic.h"

#include <utility>

#include "base/log.h"

namespace nereid::rollout {

std::shared_ptr<ShadowPair> ShadowTraffic::Begin() {
  if (in_flight_.fetch_add(1, std::memory_order_relaxed) >= rule_.max_in_flight) {
    in_flight_.fetch_sub(1, std::memory_order_relaxed);
    CountDropped();
    return nullptr;
  }
  return std::make_shared<ShadowPair>(shared_from_this());
}

ShadowCounts ShadowTraffic::Counts() const {
  ShadowCounts counts;
  counts.equal = equal_.load(std::memory_order_relaxed);
  counts.different = different_.load(std::memory_order_relaxed);
  counts.failed = failed_.load(std::memory_order_relaxed);
  counts.dropped = dropped_.load(std::memory_order_relaxed);
  counts.in_flight = in_flight_.load(std::memory_order_relaxed);
  return counts;
}

std::string ShadowTraffic::LoggedDifference() const {
  const base::MutexLock lock(mutex_);
  return logged_;
}

void ShadowTraffic::Compare(const Answer& expected, const Answer& actual) {
  auto difference = FirstDifference(expected, actual, rule_.tolerances);
  if (!difference) {
    equal_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  (actual.error.ok() ? different_ : failed_).fetch_add(1, std::memory_order_relaxed);
  NoteDifference(*std::move(difference));
}

void ShadowTraffic::NoteDifference(std::string difference) {
  uint64_t left_out = 0;
  if (!throttle_.Admit(clock_.NowNs(), &left_out)) return;
  LOG_WARNING_OF(.model = model_) << "model '" << model_ << "': shadow version "
                                  << rule_.target.version << " answers differently: " << difference
                                  << " (" << left_out << " more since the last line)";
  const base::MutexLock lock(mutex_);
  logged_ = std::move(difference);
}

ShadowPair::~ShadowPair() {
  if (!is_compared_.load(std::memory_order_acquire)) traffic_->CountDropped();
  traffic_->in_flight_.fetch_sub(1, std::memory_order_relaxed);
}

void ShadowPair::Set(bool is_expected, Answer answer) {
  {
    const base::MutexLock lock(mutex_);
    std::optional<Answer>& mine = is_expected ? expected_ : actual_;
    if (mine) return;
    mine = std::move(answer);
    if (!expected_ || !actual_) return;
    // Without the client's answer there is nothing to compare with.
    if (!expected_->error.ok()) return;
  }
  (void)traffic_->run_([self = shared_from_this()] { self->Compare(); });
}

void ShadowPair::Compare() {
  Answer expected, actual;
  {
    const base::MutexLock lock(mutex_);
    expected = *std::move(expected_);
    actual = *std::move(actual_);
  }
  traffic_->Compare(expected, actual);
  is_compared_.store(true, std::memory_order_release);
}

}  // namespace nereid::rollout
