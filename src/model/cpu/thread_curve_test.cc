// SPDX-License-Identifier: Apache-2.0
#include "model/cpu/thread_curve.h"

#include <gtest/gtest.h>

#include <functional>
#include <utility>

namespace nereid::model {
namespace {

constexpr uint64_t kMs = 1'000'000;

/// A model whose executions take `duration(threads)` nanoseconds, one after the other.
class Lone {
 public:
  Lone(int cpus, std::function<double(int threads)> duration)
      : ladder_(ThreadLadder(cpus)), duration_(std::move(duration)), curve_(ladder_.size()) {}

  /// Runs one execution and returns its number of threads.
  int Run(size_t allowed) {
    last_ = curve_.Choose(allowed, prepared_, failed_, now_ns_);
    if (last_.prepare) prepared_.Add(*last_.prepare);
    const auto ns = static_cast<uint64_t>(duration_(ladder_[last_.rung]));
    now_ns_ += ns;
    total_ns_ += ns;
    curve_.Record(last_.rung, ns, now_ns_);
    return ladder_[last_.rung];
  }
  int RunMany(int count, size_t allowed) {
    int threads = 0;
    for (int i = 0; i < count; ++i) threads = Run(allowed);
    return threads;
  }
  int RunMany(int count) { return RunMany(count, top()); }
  size_t top() const { return ladder_.size() - 1; }

  const std::vector<int> ladder_;
  std::function<double(int threads)> duration_;
  ThreadCurve curve_;
  RungSet prepared_ = RungSet::Below(1);
  RungSet failed_;
  ThreadChoice last_;
  uint64_t now_ns_ = 1'000'000'000;
  uint64_t total_ns_ = 0;
};

std::function<double(int)> Amdahl(double single_ms, double serial, double per_thread_ms = 0) {
  return [=](int threads) {
    return (single_ms * (serial + (1 - serial) / threads) + per_thread_ms * (threads - 1)) * kMs;
  };
}

TEST(ThreadLadder, HasPowersOfFourAndAllCpus) {
  EXPECT_EQ(ThreadLadder(1), (std::vector<int>{1}));
  EXPECT_EQ(ThreadLadder(2), (std::vector<int>{1, 2}));
  EXPECT_EQ(ThreadLadder(16), (std::vector<int>{1, 4, 16}));
  EXPECT_EQ(ThreadLadder(64), (std::vector<int>{1, 4, 16, 64}));
  EXPECT_EQ(ThreadLadder(96), (std::vector<int>{1, 4, 16, 64, 96}));
  EXPECT_EQ(ThreadLadder(1'000'000).size(), kMaxRungs);
  EXPECT_EQ(ThreadLadder(1'000'000).back(), 1'000'000);
  EXPECT_EQ(ThreadLadder(0), (std::vector<int>{1}));
}

TEST(ThreadCurve, ALongExecutionUsesAllCpusWhereThatIsFastest) {
  Lone model(16, Amdahl(100, 0.02));
  EXPECT_EQ(model.RunMany(40), 16);
  EXPECT_EQ(model.last_.reason, ThreadReason::kIdle);
}

TEST(ThreadCurve, FewerThreadsAreUsedWhereMoreAreSlower) {
  Lone model(64, Amdahl(100, 0.05, 0.5));  // 29 ms with 4, 18.6 with 16, 38 with 64
  EXPECT_EQ(model.RunMany(60), 16);
  EXPECT_GT(model.curve_.MeanNs(3), 0u) << "64 was tried";
}

TEST(ThreadCurve, AShortExecutionNeverTriesThreads) {
  Lone model(16, Amdahl(0.1, 0));
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(model.Run(model.top()), 1);
  EXPECT_EQ(model.last_.reason, ThreadReason::kShort);
  EXPECT_FALSE(model.prepared_.Contains(1)) << "no memory is spent on it";
  EXPECT_TRUE(model.curve_.IsShort());
}

TEST(ThreadCurve, SlowFirstExecutionsDoNotCount) {
  // A framework compiles the model in the first two.
  int runs = 0;
  Lone model(2, [&runs](int threads) { return ++runs <= 2 ? 200.0 * kMs : 0.12 * kMs * threads; });
  EXPECT_EQ(model.RunMany(10), 1);
  EXPECT_EQ(model.last_.reason, ThreadReason::kShort);
}

TEST(ThreadCurve, WithoutGainOneThreadStays) {
  Lone model(16, Amdahl(10, 1, 0.01));
  EXPECT_EQ(model.RunMany(100), 1);
  EXPECT_EQ(model.last_.reason, ThreadReason::kNoGain);
}

TEST(ThreadCurve, TheLoadLimitsTheChoice) {
  Lone model(64, Amdahl(100, 0.02));
  EXPECT_EQ(model.RunMany(60), 64);
  EXPECT_EQ(model.RunMany(20, 2), 16);
  EXPECT_EQ(model.last_.reason, ThreadReason::kShared);
  EXPECT_EQ(model.RunMany(1, 0), 1);
  EXPECT_EQ(model.last_.reason, ThreadReason::kShared);
  EXPECT_EQ(model.RunMany(2), 64) << "what was learned stays";
}

TEST(ThreadCurve, WhatCannotBePreparedIsNotUsed) {
  Lone model(16, Amdahl(100, 0));
  model.failed_.Add(2);
  EXPECT_EQ(model.RunMany(60), 4);
}

TEST(ThreadCurve, ThreadsThatBecomeSlowAreLeftAtOnceAndTriedAgainLater) {
  Lone model(2, Amdahl(10, 0.05));
  ASSERT_EQ(model.RunMany(100), 2);
  const auto alone = std::exchange(model.duration_, [](int threads) {
    return (threads == 1 ? 12.0 : 100.0) * kMs;  // other programs use the CPUs
  });
  EXPECT_EQ(model.RunMany(10), 1);
  model.duration_ = alone;
  EXPECT_EQ(model.RunMany(20'000), 2) << "the other programs have ended";
}

TEST(ThreadCurve, AFirstTrialThatWasDisturbedIsRepeatedSoon) {
  int wide = 0;
  bool disturbed = true;
  Lone model(2, [&](int threads) {
    if (threads == 1) return 5.0 * kMs;
    return (++wide <= 4 && disturbed ? 9.0 : 3.0) * kMs;
  });
  while (wide < 4) model.Run(1);
  EXPECT_EQ(model.Run(1), 1);
  const uint64_t before_ns = model.now_ns_;
  while (model.Run(1) == 1) {
  }
  EXPECT_LT(model.now_ns_ - before_ns, 200 * kMs);
  wide = 0;
  disturbed = false;
  model.RunMany(100);
  EXPECT_GT(wide, 90);
}

TEST(ThreadCurve, RepeatedTrialsCostOnePercent) {
  for (const double wide_ms : {20.0, 100.0, 1000.0}) {
    Lone model(2, [&](int threads) { return (threads == 1 ? 10 : wide_ms) * kMs; });
    model.RunMany(100);
    const uint64_t before = model.total_ns_;
    model.RunMany(100'000);
    const double best = 100'000.0 * 10 * kMs;
    EXPECT_LT(static_cast<double>(model.total_ns_ - before), 1.02 * best) << wide_ms;
  }
}

TEST(ThreadCurve, OneOutlierDoesNotDecide) {
  Lone model(2, Amdahl(10, 0.05));
  ASSERT_EQ(model.RunMany(100), 2);
  const auto usual = std::exchange(model.duration_, [](int) { return 200.0 * kMs; });
  model.Run(1);
  model.duration_ = usual;
  EXPECT_EQ(model.RunMany(2), 2);
}

TEST(ThreadCurve, AFixedNumberHasNothingToDecide) {
  ThreadCurve curve(1);
  for (int i = 0; i < 10; ++i) {
    const ThreadChoice choice =
        curve.Choose(0, RungSet::Below(1), {}, 1'000'000'000 + static_cast<uint64_t>(i));
    EXPECT_EQ(choice.reason, ThreadReason::kFixed);
    curve.Record(0, 5 * kMs, 1'000'000'000);
  }
}

}  // namespace
}  // namespace nereid::model
