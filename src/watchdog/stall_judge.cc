// SPDX-License-Identifier: Apache-2.0
#include "watchdog/stall_judge.h"

#include <algorithm>
#include <utility>

namespace nereid::watchdog {

void StallJudge::Count(uint64_t since_ns, uint64_t now_ns, uint64_t credit_ns, Seen* seen) {
  if (since_ns == 0 || since_ns > now_ns) {
    *seen = {};
    return;
  }
  if (seen->since_ns != since_ns) *seen = {since_ns, 0};
  seen->age_ns = std::min(seen->age_ns + credit_ns, now_ns - since_ns);
}

void StallJudge::Observe(const StageReport& report, uint64_t now_ns, uint64_t credit_ns,
                         StageState* state) {
  if (!report.sample) {
    // A lock that is held in each round counts like work that waits since the first of them. What
    // was blocked before is taken to be blocked still.
    if (!state->was_unknown) {
      state->unknown_since_ns = state->blocked.since_ns != 0 ? state->blocked.since_ns : now_ns;
    }
    state->was_unknown = true;
    return Count(state->unknown_since_ns, now_ns, credit_ns, &state->blocked);
  }
  state->was_unknown = false;
  Count(report.sample->blocked_since_ns, now_ns, credit_ns, &state->blocked);
  Count(report.sample->working_since_ns, now_ns, credit_ns, &state->working);
}

std::vector<Finding> StallJudge::Judge(const std::vector<StageReport>& reports, uint64_t now_ns) {
  const uint64_t passed_ns = last_ns_ == 0 || now_ns < last_ns_ ? 0 : now_ns - last_ns_;
  const uint64_t credit_ns = std::min(passed_ns, 2 * period_ns_);
  last_ns_ = now_ns;
  std::map<uint64_t, StageState> states;
  // The execution that has held an event loop for longest: when it began.
  uint64_t holds_loop_ns = UINT64_MAX;
  for (const StageReport& report : reports) {
    StageState& state = states[report.id] = states_[report.id];
    Observe(report, now_ns, credit_ns, &state);
    if (report.sample && report.sample->works_on_loop && state.working.since_ns != 0) {
      holds_loop_ns = std::min(holds_loop_ns, state.working.since_ns);
    }
  }
  states_ = std::move(states);

  std::vector<Finding> findings;
  for (const StageReport& report : reports) {
    const StageState& state = states_[report.id];
    const auto add = [&](Finding::Kind kind, uint64_t age_ns, std::string detail) {
      findings.push_back({report.id, kind, report.facts, age_ns, std::move(detail)});
    };
    const std::string detail = report.sample ? report.sample->detail : "its lock is held";
    if (state.blocked.age_ns >= bound_ns_) {
      // The execution began before the question that the loop does not answer, or it would not
      // hold the loop.
      const bool held = report.facts.kind == base::StageKind::kEventLoop &&
                        holds_loop_ns <= state.blocked.since_ns;
      add(held ? Finding::Kind::kExecuting : Finding::Kind::kStuck, state.blocked.age_ns,
          held ? "an execution of a model runs on it" : detail);
    } else if (state.working.age_ns >= bound_ns_) {
      add(Finding::Kind::kExecuting, state.working.age_ns, detail);
    }
  }
  return findings;
}

}  // namespace nereid::watchdog
