// SPDX-License-Identifier: Apache-2.0
#include "rollout/outcome_window.h"

namespace nereid::rollout {
namespace {

/// Returns whether `count` is more than `parts` of `total`.
bool IsAbove(uint64_t count, uint64_t total, uint32_t parts) {
  return count * kParts > total * parts;
}

std::string Seconds(const Rollback& rule) {
  return " of the last " + std::to_string(rule.window_seconds) + " s";
}

}  // namespace

void OutcomeWindow::Add(bool failed, bool slow, uint64_t now_ns) {
  const uint64_t number = now_ns / step_ns_;
  Step& step = steps_[number % kSteps];
  if (number < step.number) return;  // a thread that was slow to report; the step is gone
  if (number > step.number) step = {number, {}};
  ++step.counts.requests;
  step.counts.failed += failed ? 1 : 0;
  step.counts.slow += slow ? 1 : 0;
}

OutcomeCounts OutcomeWindow::Total(uint64_t now_ns) const {
  const uint64_t now = now_ns / step_ns_;
  OutcomeCounts total;
  for (const Step& step : steps_) {
    if (step.number + kSteps <= now) continue;
    total.requests += step.counts.requests;
    total.failed += step.counts.failed;
    total.slow += step.counts.slow;
  }
  return total;
}

std::optional<std::string> WhyRollBack(const Rollback& rule, const OutcomeCounts& counts) {
  if (counts.requests < rule.min_requests) return std::nullopt;
  const std::string of = " of " + std::to_string(counts.requests) + " requests" + Seconds(rule);
  if (rule.max_error_parts && IsAbove(counts.failed, counts.requests, *rule.max_error_parts)) {
    return std::to_string(counts.failed) + of + " failed, more than " +
           std::to_string(*rule.max_error_parts) + " in " + std::to_string(kParts);
  }
  if (rule.max_latency_us && IsAbove(counts.slow, counts.requests, kParts - rule.latency_parts)) {
    return std::to_string(counts.slow) + of + " took longer than " +
           std::to_string(*rule.max_latency_us) + " us, more than " +
           std::to_string(kParts - rule.latency_parts) + " in " + std::to_string(kParts);
  }
  return std::nullopt;
}

}  // namespace nereid::rollout
