// SPDX-License-Identifier: Apache-2.0
#include "frontend/http2/keep_alive.h"

#include <gtest/gtest.h>

namespace nereid::frontend::http2 {
namespace {

using Action = KeepAlive::Action;
using std::chrono::milliseconds;

constexpr uint64_t kMs = 1'000'000;
constexpr uint64_t kHour = 3'600'000 * kMs;

KeepAliveOptions Quick() {
  KeepAliveOptions options;
  options.time = milliseconds(100);
  options.timeout = milliseconds(20);
  return options;
}

TEST(PingStrikes, CountsPingsThatComeTooSoon) {
  const KeepAliveOptions options;  // five minutes, two strikes
  PingStrikes strikes(options);
  EXPECT_TRUE(strikes.Allow(kHour, true));
  EXPECT_TRUE(strikes.Allow(kHour + 1 * kMs, true));
  EXPECT_TRUE(strikes.Allow(kHour + 2 * kMs, true));
  EXPECT_FALSE(strikes.Allow(kHour + 3 * kMs, true));
}

TEST(PingStrikes, TakesPingsInTheirTime) {
  const KeepAliveOptions options;
  PingStrikes strikes(options);
  for (uint64_t i = 1; i < 100; ++i) EXPECT_TRUE(strikes.Allow(kHour + i * 300'000 * kMs, true));
}

TEST(PingStrikes, ForgivesWhenDataIsSent) {
  const KeepAliveOptions options;
  PingStrikes strikes(options);
  for (uint64_t i = 1; i < 100; ++i) {
    EXPECT_TRUE(strikes.Allow(kHour + i * kMs, true));
    strikes.DataSent();
  }
}

TEST(PingStrikes, WithoutCallsWantsTwoHoursUnlessPermitted) {
  KeepAliveOptions options;
  options.min_recv_ping_interval_without_data = milliseconds(1);
  options.max_ping_strikes = 1;
  PingStrikes strict(options);
  EXPECT_TRUE(strict.Allow(kHour, false));
  EXPECT_TRUE(strict.Allow(2 * kHour, false));  // the strike
  EXPECT_FALSE(strict.Allow(3 * kHour, false));
  options.permit_without_calls = true;
  PingStrikes permitted(options);
  for (uint64_t i = 1; i < 10; ++i) EXPECT_TRUE(permitted.Allow(kHour + i * kMs, false));
}

TEST(PingStrikes, NoBoundMeansNone) {
  KeepAliveOptions options;
  options.max_ping_strikes = 0;
  PingStrikes strikes(options);
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(strikes.Allow(kHour, true));
}

TEST(KeepAlive, AsksWhoIsSilentAndClosesWhoStaysSo) {
  const KeepAliveOptions options = Quick();
  KeepAlive alive(options, 0, 0.5);
  EXPECT_EQ(alive.NextNs(), 100 * kMs);
  EXPECT_EQ(alive.Decide(99 * kMs, true), Action::kNothing);
  EXPECT_EQ(alive.Decide(100 * kMs, true), Action::kPing);
  EXPECT_EQ(alive.NextNs(), 120 * kMs);
  EXPECT_EQ(alive.Decide(119 * kMs, true), Action::kNothing);
  EXPECT_EQ(alive.Decide(120 * kMs, true), Action::kClose);
}

TEST(KeepAlive, AnyWordIsAnAnswer) {
  const KeepAliveOptions options = Quick();
  KeepAlive alive(options, 0, 0.5);
  EXPECT_EQ(alive.Decide(100 * kMs, true), Action::kPing);
  EXPECT_TRUE(alive.Heard(99 * kMs));  // a clock that is a little late
  EXPECT_EQ(alive.Decide(130 * kMs, true), Action::kNothing);
  EXPECT_FALSE(alive.Heard(110 * kMs));
  alive.Heard(150 * kMs);
  EXPECT_EQ(alive.Decide(249 * kMs, true), Action::kNothing);
  EXPECT_EQ(alive.Decide(250 * kMs, true), Action::kPing);
}

TEST(KeepAlive, AsksNobodyWithoutCallsUnlessPermitted) {
  KeepAliveOptions options = Quick();
  KeepAlive strict(options, 0, 0.5);
  EXPECT_EQ(strict.Decide(100 * kMs, false), Action::kNothing);
  EXPECT_EQ(strict.NextNs(), 200 * kMs);
  EXPECT_EQ(strict.Decide(200 * kMs, true), Action::kPing);
  options.permit_without_calls = true;
  KeepAlive permitted(options, 0, 0.5);
  EXPECT_EQ(permitted.Decide(100 * kMs, false), Action::kPing);
}

TEST(KeepAlive, AsksOnlySoOftenWithoutData) {
  const KeepAliveOptions options = Quick();
  KeepAlive alive(options, 0, 0.5);
  uint64_t now = 0;
  const auto ask = [&] {
    now += 100 * kMs;
    const Action action = alive.Decide(now, true);
    alive.Heard(now + 1);
    now += 1;
    return action;
  };
  EXPECT_EQ(ask(), Action::kPing);
  EXPECT_EQ(ask(), Action::kPing);
  EXPECT_EQ(ask(), Action::kNothing);
  alive.DataSent();
  EXPECT_EQ(ask(), Action::kPing);
}

TEST(KeepAlive, EndsConnectionsByTheirAge) {
  KeepAliveOptions options;
  options.max_connection_age = milliseconds(1000);
  options.max_connection_age_grace = milliseconds(50);
  for (const auto& [jitter, age] : {std::pair{0.0, 900}, std::pair{0.5, 1000}}) {
    KeepAlive alive(options, 0, jitter);
    EXPECT_EQ(alive.NextNs(), age * kMs);
    EXPECT_EQ(alive.Decide(age * kMs, true), Action::kGoAway);
    EXPECT_EQ(alive.Decide(age * kMs, true), Action::kNothing);
    EXPECT_EQ(alive.NextNs(), (age + 50) * kMs);
    EXPECT_EQ(alive.Decide((age + 50) * kMs, true), Action::kClose);
  }
}

TEST(KeepAlive, WithoutGraceCallsMayFinish) {
  KeepAliveOptions options;
  options.max_connection_age = milliseconds(1000);
  KeepAlive alive(options, 0, 0.5);
  EXPECT_EQ(alive.Decide(1000 * kMs, true), Action::kGoAway);
  EXPECT_EQ(alive.Decide(7000 * kMs, true), Action::kNothing);
}

}  // namespace
}  // namespace nereid::frontend::http2
