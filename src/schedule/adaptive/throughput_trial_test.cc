// SPDX-License-Identifier: Apache-2.0
#include "schedule/adaptive/throughput_trial.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace nereid::schedule {
namespace {

constexpr uint64_t kMs = 1'000'000;
constexpr uint64_t kSecond = 1000 * kMs;

/// Executions of single requests, whose distance depends on whether the policy applies.
class Executions {
 public:
  /// The distances vary at random by the fraction `noise`.
  Executions(double with_ms, double without_ms, double noise)
      : with_ms_(with_ms), without_ms_(without_ms), noise_(noise) {}

  /// Goes on until `end_ns`; returns the part of the time in which the policy applied.
  double RunUntil(uint64_t end_ns) {
    const uint64_t begin_ns = now_ns_;
    uint64_t applied_ns = 0;
    while (now_ns_ < end_ns) {
      const double ms = trial.applies() ? with_ms_ : without_ms_;
      std::uniform_real_distribution<double> around(1 - noise_, 1 + noise_);
      const auto step = static_cast<uint64_t>(ms * kMs * around(random_));
      if (trial.applies()) applied_ns += step;
      now_ns_ += step;
      trial.OnExecuted(1, now_ns_);
    }
    return static_cast<double>(applied_ns) / static_cast<double>(now_ns_ - begin_ns);
  }
  void Change(double with_ms, double without_ms) {
    with_ms_ = with_ms;
    without_ms_ = without_ms;
  }
  void Pause(uint64_t ns) { now_ns_ += ns; }

  ThroughputTrial trial{20 * kMs, kSecond};

 private:
  double with_ms_, without_ms_, noise_;
  uint64_t now_ns_ = 1;
  std::mt19937 random_{3};
};

TEST(ThroughputTrial, BeginsWithoutThePolicy) {
  const ThroughputTrial trial(20 * kMs, kSecond);
  EXPECT_FALSE(trial.applies());
}

TEST(ThroughputTrial, APolicyThatCostsThroughputRarelyApplies) {
  for (const double slower : {1.05, 1.3, 20.0}) {
    Executions executions(slower, 1, 0.2);
    (void)executions.RunUntil(10 * kSecond);
    EXPECT_LT(executions.RunUntil(60 * kSecond), 1.0 / 20) << slower;
    EXPECT_GT(executions.RunUntil(160 * kSecond), 0) << "loads change";
  }
}

TEST(ThroughputTrial, APolicyThatCostsNothingApplies) {
  for (const double faster : {1.0, 0.8}) {
    Executions executions(faster, 1, 0.2);
    (void)executions.RunUntil(10 * kSecond);
    EXPECT_GT(executions.RunUntil(60 * kSecond), 0.9) << faster;
  }
}

TEST(ThroughputTrial, FollowsAChange) {
  Executions executions(1, 1, 0.2);
  EXPECT_GT(executions.RunUntil(60 * kSecond), 0.8);
  executions.Change(2, 1);
  (void)executions.RunUntil(90 * kSecond);
  EXPECT_LT(executions.RunUntil(120 * kSecond), 0.1);
  executions.Change(1, 1);
  (void)executions.RunUntil(150 * kSecond);
  EXPECT_GT(executions.RunUntil(180 * kSecond), 0.8);
}

TEST(ThroughputTrial, PausesOfTheClientsAreNotCounted) {
  Executions executions(1, 1, 0.2);
  uint64_t now_ns = 0;
  double applied = 0;
  for (int i = 0; i < 100; ++i) {
    applied += executions.RunUntil(now_ns += kSecond);
    executions.Pause(10 * kSecond);
    now_ns += 10 * kSecond;
  }
  EXPECT_GT(applied / 100, 0.7);
}

// Requests that come on their own, at random, come no less often because of waits.
TEST(ThroughputTrial, RandomArrivalsAreNoLoss) {
  ThroughputTrial trial(20 * kMs, kSecond);
  std::mt19937 random(7);
  std::exponential_distribution<double> gap(1);
  uint64_t now_ns = 1, applied = 0;
  constexpr uint64_t kRequests = 400'000;
  for (uint64_t i = 0; i < kRequests; ++i) {
    now_ns += static_cast<uint64_t>(gap(random) * kMs);
    if (trial.applies()) ++applied;
    trial.OnExecuted(1, now_ns);
  }
  EXPECT_GT(applied, kRequests * 8 / 10);
}

}  // namespace
}  // namespace nereid::schedule
