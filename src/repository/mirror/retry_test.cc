// SPDX-License-Identifier: Apache-2.0
#include "repository/mirror/retry.h"

#include <gtest/gtest.h>

namespace nereid::repository::mirror {
namespace {

using base::Status;
using base::StatusCode;

constexpr RetryPolicy kPolicy{100, 1000, 5000};

TEST(NextDelay, GrowsToTheCap) {
  // The largest random number that gives the bound itself.
  EXPECT_EQ(NextDelayNs(kPolicy, 1, 100, 0), 100u);
  EXPECT_EQ(NextDelayNs(kPolicy, 2, 200, 0), 200u);
  EXPECT_EQ(NextDelayNs(kPolicy, 3, 400, 0), 400u);
  EXPECT_EQ(NextDelayNs(kPolicy, 4, 800, 0), 800u);
  EXPECT_EQ(NextDelayNs(kPolicy, 5, 1000, 0), 1000u);
  EXPECT_EQ(NextDelayNs(kPolicy, 4'000'000'000, 1000, 0), 1000u);
}

TEST(NextDelay, IsUniformFromZeroToTheBound) {
  for (uint64_t random = 0; random < 500; ++random) {
    EXPECT_EQ(NextDelayNs(kPolicy, 2, random, 0), random % 201);
  }
}

TEST(NextDelay, EndsWithTheTotalTime) {
  EXPECT_EQ(NextDelayNs(kPolicy, 5, 1000, 4000), 1000u);
  EXPECT_EQ(NextDelayNs(kPolicy, 5, 1000, 4001), std::nullopt);
  EXPECT_EQ(NextDelayNs(kPolicy, 5, 0, 5000), 0u);
  EXPECT_EQ(NextDelayNs(kPolicy, 5, 0, 5001), std::nullopt);
}

TEST(NextDelay, SurvivesExtremePolicies) {
  const RetryPolicy huge{UINT64_MAX, UINT64_MAX, UINT64_MAX};
  EXPECT_EQ(NextDelayNs(huge, 1, UINT64_MAX, 0), UINT64_MAX);
  EXPECT_EQ(NextDelayNs(huge, 1, UINT64_MAX, 1), std::nullopt);
  EXPECT_EQ(NextDelayNs({0, 0, 0}, 7, 12345, 0), 0u);
}

class AttemptsTest : public ::testing::Test {
 protected:
  base::FakeClock clock_;
  uint64_t slept_ = 0;
  int retries_ = 0;
  RetryContext context_{kPolicy, &clock_,
                        [this](uint64_t ns) {
                          clock_.Advance(ns);
                          slept_ += ns;
                        },
                        [] { return uint64_t{1'000'000'000'000}; }, [this] { ++retries_; }};
};

TEST_F(AttemptsTest, DoNotRepeatWhatCannotSucceed) {
  Attempts attempts(context_, nullptr);
  for (const Status& failure : {Status::NotFound("a"), Status::InvalidArgument("b"),
                                Status::AlreadyExists("c"), Status::Cancelled("d")}) {
    EXPECT_EQ(attempts.WaitAfter(failure).code(), failure.code());
  }
  EXPECT_EQ(retries_, 0);
  EXPECT_EQ(slept_, 0u);
}

TEST_F(AttemptsTest, EndWithTheTotalTime) {
  Attempts attempts(context_, nullptr);
  int waits = 0;
  Status status;
  while (status.ok()) {
    status = attempts.WaitAfter(Status::Unavailable("away"));
    clock_.Advance(100);  // the attempt itself
    ++waits;
  }
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_EQ(status.message().find("away (after " + std::to_string(waits) + " attempts in "), 0u)
      << status.message();
  EXPECT_EQ(retries_, waits - 1);
  EXPECT_LE(slept_, kPolicy.total_ns);
}

TEST_F(AttemptsTest, BeginAnewAfterProgress) {
  Attempts attempts(context_, nullptr);
  for (int i = 0; i < 1000; ++i) {
    attempts.Restart();
    ASSERT_TRUE(attempts.WaitAfter(Status::Unavailable("away")).ok());
  }
}

TEST_F(AttemptsTest, RepeatADamagedResponseTwice) {
  Attempts attempts(context_, nullptr);
  EXPECT_TRUE(attempts.WaitAfter(Status::Internal("no XML")).ok());
  EXPECT_TRUE(attempts.WaitAfter(Status::Internal("no XML")).ok());
  EXPECT_EQ(attempts.WaitAfter(Status::Internal("no XML")).code(), StatusCode::kInternal);
}

TEST_F(AttemptsTest, AskDuringTheWait) {
  context_.policy = {10'000'000'000, 10'000'000'000, 60'000'000'000};
  context_.random = [] { return uint64_t{5'000'000'000}; };
  int asked = 0;
  Attempts attempts(context_, [&] { return ++asked == 3; });
  EXPECT_EQ(attempts.WaitAfter(Status::Unavailable("away")).code(), StatusCode::kCancelled);
  EXPECT_EQ(slept_, 200'000'000u);  // two slices of 100 ms
  EXPECT_EQ(retries_, 0);
}

}  // namespace
}  // namespace nereid::repository::mirror
