// SPDX-License-Identifier: Apache-2.0
#include "api/timeout_text.h"

#include <gtest/gtest.h>

namespace nereid::api {
namespace {

TEST(TimeoutText, GrpcTimeout) {
  EXPECT_EQ(ParseGrpcTimeout("1H"), 3'600'000'000'000u);
  EXPECT_EQ(ParseGrpcTimeout("2M"), 120'000'000'000u);
  EXPECT_EQ(ParseGrpcTimeout("3S"), 3'000'000'000u);
  EXPECT_EQ(ParseGrpcTimeout("4m"), 4'000'000u);
  EXPECT_EQ(ParseGrpcTimeout("5u"), 5'000u);
  EXPECT_EQ(ParseGrpcTimeout("99999999n"), 99'999'999u);
  EXPECT_EQ(ParseGrpcTimeout("0m"), 0u);
  EXPECT_EQ(ParseGrpcTimeout("99999999H"), UINT64_MAX);
  for (const char* text : {"", "m", "5", "123456789m", "-1m", "+1m", "1.5S", "1 m", " 1m", "1s"}) {
    EXPECT_FALSE(ParseGrpcTimeout(text).has_value()) << text;
  }
}

TEST(TimeoutText, Milliseconds) {
  EXPECT_EQ(ParseMilliseconds("15000"), 15'000'000'000u);
  EXPECT_EQ(ParseMilliseconds("0"), 0u);
  EXPECT_EQ(ParseMilliseconds("9999999999999999999"), UINT64_MAX);
  for (const char* text : {"", "-1", "1.5", "15s", " 1", "1 ", "99999999999999999999", "x"}) {
    EXPECT_FALSE(ParseMilliseconds(text).has_value()) << text;
  }
}

TEST(TimeoutText, Deadline) {
  EXPECT_EQ(DeadlineAfter(5, 7), 12u);
  EXPECT_EQ(DeadlineAfter(5, 0), 5u);
  EXPECT_EQ(DeadlineAfter(5, UINT64_MAX), 0u);
  EXPECT_EQ(DeadlineAfter(5, uint64_t{367} * 24 * 3600 * 1'000'000'000), 0u);
}

}  // namespace
}  // namespace nereid::api
