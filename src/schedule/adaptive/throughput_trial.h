// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace nereid::schedule {

/// Finds out by trial whether a policy of batching costs throughput. If clients send a request only
/// after the answer to the one before, every wait makes them slower, which no cost curve shows; if
/// requests come on their own, waits cost nothing.
///
/// A trial is a series of pairs of periods, one without the policy and one with it. A pair gives
/// the logarithm of the ratio of both throughputs. The policy costs throughput if the mean of these
/// is below zero with certainty (2.5 standard errors, more for few pairs); it does not if the mean
/// is above -0.03 with as much certainty, or if 16 pairs are no proof. The result applies for a
/// time of 4 trials, and for twice as long each time it is the same again: at most 16 trials with
/// the policy and 32 without it.
///
/// Time is a parameter. Not thread-safe.
class ThroughputTrial {
 public:
  static constexpr uint32_t kMinExecutions = 16;  // of a period
  /// Executions at the beginning of a period that are not counted: they, and the queue that they
  /// find, are still those of the period before.
  static constexpr uint32_t kSettling = 4;
  static constexpr uint32_t kMinPairs = 3;
  static constexpr uint32_t kMaxPairs = 16;

  /// `period_ns`: the shortest period. A period in which no execution ends for `idle_ns` begins
  /// anew, because nobody sent requests.
  ThroughputTrial(uint64_t period_ns, uint64_t idle_ns)
      : period_ns_(period_ns), idle_ns_(idle_ns) {}

  /// Returns whether the policy applies at present.
  bool applies() const { return applies_; }

  /// Records the end of the execution of a batch of `size`.
  void OnExecuted(uint64_t size, uint64_t now_ns);

 private:
  enum class Verdict { kUndecided, kHarmless, kHarmful };

  void BeginPeriod(uint64_t now_ns);
  void EndPeriod(uint64_t now_ns);
  Verdict Judge() const;
  void EndTrial(Verdict verdict, uint64_t now_ns);
  void BeginTrial(uint64_t now_ns);

  const uint64_t period_ns_;
  const uint64_t idle_ns_;
  bool applies_ = false;
  bool started_ = false;
  // The current period.
  uint64_t period_begin_ns_ = 0, last_end_ns_ = 0, requests_ = 0;
  uint32_t settling_ = 0;  // executions until it begins
  uint32_t executions_ = 0;
  // The current trial.
  uint64_t trial_begin_ns_ = 0;
  double without_ = 0;  // the throughput of the last period without the policy
  uint32_t pairs_ = 0;
  double sum_ = 0, sum_squared_ = 0;
  // Between two trials.
  uint64_t next_trial_ns_ = 0;
  bool in_trial_ = true;
  Verdict last_verdict_ = Verdict::kUndecided;
  uint64_t rest_ = 0;  // for how many times the length of the trial the verdict applies
};

}  // namespace nereid::schedule
