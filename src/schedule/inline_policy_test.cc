// SPDX-License-Identifier: Apache-2.0
#include "schedule/inline_policy.h"

#include <gtest/gtest.h>

namespace nereid::schedule {
namespace {

constexpr uint64_t kCheap = 5'000;
constexpr uint64_t kDear = 60'000;

/// Records executions that take this long until the decision is `to`; the number of them.
uint32_t RecordUntil(InlinePolicy& policy, bool to, uint64_t execution_ns,
                     uint32_t most = 200'000) {
  for (uint32_t i = 0; i < most; ++i) {
    if (policy.RunInline() == to) return i;
    policy.Record(execution_ns);
  }
  return most;
}

TEST(InlinePolicyTest, ModesThatDecideBeforehandLearnNothing) {
  InlinePolicy always(InlineMode::kAlways), never(InlineMode::kNever);
  for (int i = 0; i < 100; ++i) {
    always.Record(InlinePolicy::kFarTooLongNs);
    never.Record(kCheap);
  }
  EXPECT_TRUE(always.RunInline());
  EXPECT_FALSE(never.RunInline());
}

TEST(InlinePolicyTest, CheapExecutionsRunInlineAfterSome) {
  InlinePolicy policy(InlineMode::kAuto);
  EXPECT_EQ(RecordUntil(policy, true, kCheap), InlinePolicy::kFewestBeforeTrial);
  EXPECT_EQ(RecordUntil(policy, false, kCheap, 5000), 5000u);
}

TEST(InlinePolicyTest, WhatIsDearOnlyOnTheInstancesThreadRunsInline) {
  InlinePolicy policy(InlineMode::kAuto);
  RecordUntil(policy, true, kDear);
  ASSERT_TRUE(policy.RunInline());
  EXPECT_EQ(RecordUntil(policy, false, kCheap, 5000), 5000u);
}

TEST(InlinePolicyTest, AnInterruptionChangesNothing) {
  InlinePolicy policy(InlineMode::kAuto);
  RecordUntil(policy, true, kCheap);
  for (int i = 0; i < 100; ++i) {
    policy.Record(3'000'000);
    EXPECT_TRUE(policy.RunInline());
    for (int k = 0; k < 10; ++k) policy.Record(kCheap);
  }
  EXPECT_TRUE(policy.RunInline());
}

TEST(InlinePolicyTest, OneThatHoldsTheCallerUpEndsIt) {
  InlinePolicy policy(InlineMode::kAuto);
  RecordUntil(policy, true, kCheap);
  policy.Record(InlinePolicy::kFarTooLongNs);
  EXPECT_FALSE(policy.RunInline());
}

TEST(InlinePolicyTest, LongExecutionsAreNeverTried) {
  InlinePolicy policy(InlineMode::kAuto);
  EXPECT_EQ(RecordUntil(policy, true, 1'000'000), 200'000u);
}

TEST(InlinePolicyTest, TrialsThatFailBecomeRare) {
  InlinePolicy policy(InlineMode::kAuto);
  uint32_t inline_executions = 0, wait = 0;
  for (int trial = 0; trial < 20; ++trial) {
    wait = RecordUntil(policy, true, kDear);
    inline_executions += RecordUntil(policy, false, kDear);
  }
  EXPECT_EQ(wait, InlinePolicy::kMostBeforeTrial);
  EXPECT_LE(inline_executions, 20u * 6);
}

TEST(InlinePolicyTest, ATrialThatLastedIsTakenUpSoonAgain) {
  InlinePolicy policy(InlineMode::kAuto);
  for (int trial = 0; trial < 5; ++trial) {
    RecordUntil(policy, true, kDear);
    RecordUntil(policy, false, kDear);
  }
  RecordUntil(policy, true, kDear);
  for (uint32_t i = 0; i < InlinePolicy::kSettled; ++i) policy.Record(kCheap);
  RecordUntil(policy, false, kDear);
  EXPECT_EQ(RecordUntil(policy, true, kDear), InlinePolicy::kFewestBeforeTrial);
}

}  // namespace
}  // namespace nereid::schedule
