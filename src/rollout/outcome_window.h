// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "rollout/rollout_plan.h"

namespace nereid::rollout {

/// How many requests ended, and how.
struct OutcomeCounts {
  uint64_t requests = 0;
  uint64_t failed = 0;
  uint64_t slow = 0;  // took longer than the bound
};

/// The outcomes of the requests of the last seconds. The window moves in steps of a tenth of its
/// length, so that it covers nine tenths to all of that length. Its memory does not depend on the
/// number of requests. Not thread-safe.
class OutcomeWindow {
 public:
  explicit OutcomeWindow(uint64_t length_ns)
      : step_ns_(std::max<uint64_t>(length_ns / kSteps, 1)) {}

  /// `now_ns` is the time of a monotonic clock.
  void Add(bool failed, bool slow, uint64_t now_ns);
  OutcomeCounts Total(uint64_t now_ns) const;

 private:
  static constexpr size_t kSteps = 10;
  struct Step {
    uint64_t number = 0;  // the time of the step divided by its length
    OutcomeCounts counts;
  };

  const uint64_t step_ns_;
  std::array<Step, kSteps> steps_;  // step n is at n % kSteps
};

/// Returns why the rule fires for these outcomes; nothing if it does not fire.
std::optional<std::string> WhyRollBack(const Rollback& rule, const OutcomeCounts& counts);

}  // namespace nereid::rollout
