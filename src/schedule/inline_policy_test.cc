// SPDX-License-Identifier: Apache-2.0
#include "schedule/inline_policy.h"

#include <gtest/gtest.h>

namespace nereid::schedule {
namespace {

constexpr uint64_t kCheap = 5'000;
constexpr uint64_t kSmall = 16;
constexpr uint64_t kSecond = 1'000'000'000;

void MakeKnown(InlinePolicy& policy, uint64_t bytes, uint64_t now_ns = 0) {
  for (uint32_t i = 0; i < InlinePolicy::kMinSamples; ++i) policy.Record(bytes, kCheap, now_ns);
}

TEST(InlinePolicyTest, LearnsFromWhatExecutionsTake) {
  InlinePolicy policy(InlineMode::kAuto);
  EXPECT_FALSE(policy.RunInline(kSmall, 0));
  MakeKnown(policy, kSmall);
  EXPECT_TRUE(policy.RunInline(kSmall, 0));
  policy.Record(kSmall, InlinePolicy::kOverrunNs - 1, 0);
  EXPECT_FALSE(policy.RunInline(kSmall, 0));
  int cheap_until_back = 0;
  while (!policy.RunInline(kSmall, 0)) {
    policy.Record(kSmall, kCheap, 0);
    ASSERT_LT(++cheap_until_back, 1000);
  }
  EXPECT_GT(cheap_until_back, 20);
}

TEST(InlinePolicyTest, LargerInputsMayTakeLonger) {
  constexpr uint64_t kMebibyte = 1 << 20;
  InlinePolicy policy(InlineMode::kAuto);
  for (uint32_t i = 0; i < InlinePolicy::kMinSamples; ++i) {
    policy.Record(kSmall, InlinePolicy::kMaxInlineNs + 10, 0);
    policy.Record(kMebibyte, 90'000, 0);
    policy.Record(4 * kMebibyte, InlinePolicy::kMaxLargeInlineNs + 1, 0);
  }
  EXPECT_FALSE(policy.RunInline(kSmall, 0));
  EXPECT_TRUE(policy.RunInline(kMebibyte, 0));
  EXPECT_FALSE(policy.RunInline(4 * kMebibyte, 0)) << "no input makes a long execution welcome";
  policy.Record(kMebibyte, 160'000, 0);
  EXPECT_FALSE(policy.RunInline(kMebibyte, 0));
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

// However cheap executions are meanwhile, and whatever their size.
void ExpectPausedUntil(InlinePolicy& policy, uint64_t until_ns) {
  for (int i = 0; i < 10'000; ++i) policy.Record(kSmall, kCheap, until_ns - 1);
  EXPECT_FALSE(policy.RunInline(kSmall, until_ns - 1));
  EXPECT_FALSE(policy.RunInline(5'000, until_ns - 1));
  EXPECT_TRUE(policy.RunInline(kSmall, until_ns));
  EXPECT_TRUE(policy.RunInline(5'000, until_ns));
}

TEST(InlinePolicyTest, AnOverrunPausesInlineRunning) {
  InlinePolicy policy(InlineMode::kAuto);
  MakeKnown(policy, kSmall);
  MakeKnown(policy, 5'000);
  policy.Record(kSmall, 2 * kSecond, 10 * kSecond);
  ExpectPausedUntil(policy, 10 * kSecond + InlinePolicy::kFirstBackOff * 2 * kSecond);
}

TEST(InlinePolicyTest, RepeatedOverrunsPauseItForLonger) {
  InlinePolicy policy(InlineMode::kAuto);
  MakeKnown(policy, kSmall);
  MakeKnown(policy, 5'000);
  uint64_t now = 10 * kSecond;
  for (const uint64_t factor : {20, 80, 320, 1000, 1000}) {
    policy.Record(kSmall, kSecond, now);
    const uint64_t until = now + factor * kSecond;
    ExpectPausedUntil(policy, until);
    now = until;
  }
  now += InlinePolicy::kRepeatFactor * kSecond;  // without one
  policy.Record(kSmall, kSecond, now);
  ExpectPausedUntil(policy, now + 20 * kSecond);
}

TEST(InlinePolicyTest, AShorterOverrunDoesNotShortenThePause) {
  InlinePolicy policy(InlineMode::kAuto);
  MakeKnown(policy, kSmall);
  MakeKnown(policy, 5'000);
  policy.Record(kSmall, 50 * kSecond, 0);
  policy.Record(kSmall, InlinePolicy::kOverrunNs, kSecond);
  ExpectPausedUntil(policy, InlinePolicy::kFirstBackOff * 50 * kSecond);
}

TEST(InlinePolicyTest, AlternatingRequestsHoldALoopForAThousandthOfTheTime) {
  // A client that sends a slow request as soon as it would run inline, or a while later, and cheap
  // requests otherwise.
  for (const uint64_t pause : {uint64_t{0}, 100 * kSecond, 1'500 * kSecond}) {
    InlinePolicy policy(InlineMode::kAuto);
    MakeKnown(policy, kSmall);
    uint64_t now = 0, held = 0, inline_since = 0;
    while (now < 100'000 * kSecond) {
      const bool runs_inline = policy.RunInline(kSmall, now);
      if (!runs_inline) inline_since = now;
      const bool slow = runs_inline && now >= inline_since + pause;
      const uint64_t takes = slow ? kSecond / 2 : kCheap;
      if (slow) held += takes;
      now += takes + kSecond / 10;
      policy.Record(kSmall, takes, now);
    }
    EXPECT_LE(held, now / InlinePolicy::kMaxBackOff + 2 * kSecond) << pause;
  }
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
