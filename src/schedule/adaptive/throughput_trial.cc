// SPDX-License-Identifier: Apache-2.0
#include "schedule/adaptive/throughput_trial.h"

#include <algorithm>
#include <cmath>

namespace nereid::schedule {
namespace {

constexpr double kErrors = 2.5;      // standard errors
constexpr double kTolerance = 0.03;  // a loss of throughput that counts as none
constexpr double kMinError = 0.003;  // three equal pairs by chance are no proof
constexpr double kMaxLogRatio = 1;   // so that one pair with a pause does not decide
// The time for which a verdict applies, in trials: 4, doubled with each verdict that is the same.
constexpr uint64_t kShortestRest = 4;
constexpr uint64_t kLongestHarmless = 16;
constexpr uint64_t kLongestHarmful = 32;

}  // namespace

void ThroughputTrial::OnExecuted(uint64_t size, uint64_t now_ns) {
  if (!started_) {
    started_ = true;
    BeginTrial(now_ns);
    return;
  }
  const bool paused = now_ns - last_end_ns_ > idle_ns_;
  last_end_ns_ = now_ns;
  if (!in_trial_) {
    if (now_ns >= next_trial_ns_) BeginTrial(now_ns);
    return;
  }
  if (paused) return BeginPeriod(now_ns);
  if (settling_ > 0) {
    --settling_;
    period_begin_ns_ = now_ns;
    return;
  }
  requests_ += size;
  ++executions_;
  if (executions_ >= kMinExecutions && now_ns - period_begin_ns_ >= period_ns_) EndPeriod(now_ns);
}

void ThroughputTrial::BeginPeriod(uint64_t now_ns) {
  period_begin_ns_ = last_end_ns_ = now_ns;
  requests_ = 0;
  executions_ = 0;
  settling_ = kSettling;
}

void ThroughputTrial::EndPeriod(uint64_t now_ns) {
  const double throughput = static_cast<double>(requests_) /
                            static_cast<double>(std::max<uint64_t>(1, now_ns - period_begin_ns_));
  BeginPeriod(now_ns);
  if (!applies_) {
    without_ = throughput;
    applies_ = true;
    return;
  }
  const double ratio = std::clamp(std::log(throughput / without_), -kMaxLogRatio, kMaxLogRatio);
  ++pairs_;
  sum_ += ratio;
  sum_squared_ += ratio * ratio;
  applies_ = false;
  const Verdict verdict = Judge();
  if (verdict != Verdict::kUndecided) EndTrial(verdict, now_ns);
}

ThroughputTrial::Verdict ThroughputTrial::Judge() const {
  if (pairs_ < kMinPairs) return Verdict::kUndecided;
  const double n = pairs_;
  const double mean = sum_ / n;
  const double variance = std::max(0.0, (sum_squared_ - n * mean * mean) / (n - 1));
  // The fewer pairs, the less is known of their spread: close to the quantiles of Student's t.
  const double errors = kErrors * (1 + 3 / (n - 1));
  const double error = errors * std::max(kMinError, std::sqrt(variance / n));
  if (mean + error < 0) return Verdict::kHarmful;
  if (mean - error > -kTolerance || pairs_ >= kMaxPairs) return Verdict::kHarmless;
  return Verdict::kUndecided;
}

void ThroughputTrial::EndTrial(Verdict verdict, uint64_t now_ns) {
  const uint64_t longest = verdict == Verdict::kHarmful ? kLongestHarmful : kLongestHarmless;
  rest_ = verdict == last_verdict_ ? std::min(2 * rest_, longest) : kShortestRest;
  last_verdict_ = verdict;
  applies_ = verdict == Verdict::kHarmless;
  in_trial_ = false;
  next_trial_ns_ = now_ns + rest_ * (now_ns - trial_begin_ns_);
}

void ThroughputTrial::BeginTrial(uint64_t now_ns) {
  in_trial_ = true;
  applies_ = false;
  trial_begin_ns_ = now_ns;
  pairs_ = 0;
  sum_ = sum_squared_ = 0;
  BeginPeriod(now_ns);
}

}  // namespace nereid::schedule
