// SPDX-License-Identifier: Apache-2.0
#include "schedule/inline_policy.h"

#include <gtest/gtest.h>

namespace nereid::schedule {
namespace {

constexpr uint64_t kCheap = 5'000;
constexpr uint64_t kSmall = 16;
constexpr uint64_t kSecond = 1'000'000'000;

void MakeKnown(InlinePolicy& policy, uint64_t bytes, uint64_t now_ns = 0) {
  for (uint32_t i = 0; i < InlinePolicy::kMinimumSamples; ++i) policy.Record(bytes, kCheap, now_ns);
}

TEST(InlinePolicyTest, LearnsFromWhatExecutionsTake) {
  InlinePolicy policy(InlineMode::kAuto);
  EXPECT_FALSE(policy.RunInline(kSmall, 0));
  MakeKnown(policy, kSmall);
  EXPECT_TRUE(policy.RunInline(kSmall, 0));
  policy.Record(kSmall, InlinePolicy::kSurpriseNs - 1, 0);
  EXPECT_FALSE(policy.RunInline(kSmall, 0));
  int cheap_until_back = 0;
  while (!policy.RunInline(kSmall, 0)) {
    policy.Record(kSmall, kCheap, 0);
    ASSERT_LT(++cheap_until_back, 1000);
  }
  EXPECT_GT(cheap_until_back, 20);
}

TEST(InlinePolicyTest, LargerInputsAreJudgedForThemselves) {
  InlinePolicy policy(InlineMode::kAuto);
  MakeKnown(policy, kSmall);
  EXPECT_TRUE(policy.RunInline(4095, 0));
  EXPECT_FALSE(policy.RunInline(4096, 0));
  EXPECT_FALSE(policy.RunInline(uint64_t{1} << 30, 0));
  EXPECT_FALSE(policy.RunInline(UINT64_MAX, 0));
  MakeKnown(policy, 4096);
  EXPECT_TRUE(policy.RunInline(8191, 0));
  EXPECT_FALSE(policy.RunInline(8192, 0));
  for (int i = 0; i < 20; ++i) policy.Record(10'000, 1'000'000, 0);
  EXPECT_FALSE(policy.RunInline(10'000, 0));
  EXPECT_TRUE(policy.RunInline(kSmall, 0)) << "the large ones are slow, the small ones are not";
}

TEST(InlinePolicyTest, ASurpriseIsNotRepeatedSoon) {
  InlinePolicy policy(InlineMode::kAuto);
  MakeKnown(policy, kSmall);
  MakeKnown(policy, 5'000);
  policy.Record(kSmall, 2 * kSecond, 10 * kSecond);
  const uint64_t until = 10 * kSecond + InlinePolicy::kBackOff * 2 * kSecond;
  // However cheap executions are from now on, and whatever their size.
  for (int i = 0; i < 10'000; ++i) policy.Record(kSmall, kCheap, 11 * kSecond);
  EXPECT_FALSE(policy.RunInline(kSmall, until - 1));
  EXPECT_FALSE(policy.RunInline(5'000, until - 1));
  EXPECT_TRUE(policy.RunInline(kSmall, until));
  // A shorter one does not make it shorter.
  policy.Record(kSmall, 2 * kSecond, until);
  policy.Record(kSmall, InlinePolicy::kSurpriseNs, until);
  for (int i = 0; i < 10'000; ++i) policy.Record(kSmall, kCheap, until);
  EXPECT_FALSE(policy.RunInline(kSmall, until + 6 * kSecond));
}

TEST(InlinePolicyTest, WhoeverTakesTurnsHoldsALoopForAThousandthOfTheTime) {
  InlinePolicy policy(InlineMode::kAuto);
  MakeKnown(policy, kSmall);
  // A client that sends what is slow as soon as it would run inline, and cheap requests else.
  uint64_t now = 0, held = 0;
  while (now < 10'000 * kSecond) {
    const bool runs_inline = policy.RunInline(kSmall, now);
    const uint64_t takes = runs_inline ? kSecond / 2 : kCheap;
    if (runs_inline) held += takes;
    now += takes + kSecond / 10;
    policy.Record(kSmall, takes, now);
  }
  EXPECT_LE(held, now / InlinePolicy::kBackOff + kSecond);
}

TEST(InlinePolicyTest, TheEndOfTimeIsNoOverflow) {
  InlinePolicy policy(InlineMode::kAuto);
  MakeKnown(policy, kSmall);
  policy.Record(kSmall, UINT64_MAX / 2, kSecond);
  MakeKnown(policy, kSmall, kSecond);
  EXPECT_FALSE(policy.RunInline(kSmall, UINT64_MAX / 2));
}

TEST(InlinePolicyTest, ModesAreNotLearned) {
  InlinePolicy always(InlineMode::kAlways), never(InlineMode::kNever);
  always.Record(kSmall, kSecond, 0);
  MakeKnown(never, kSmall);
  EXPECT_TRUE(always.RunInline(kSmall, 0));
  EXPECT_FALSE(never.RunInline(kSmall, 0));
}

}  // namespace
}  // namespace nereid::schedule
