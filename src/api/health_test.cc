// SPDX-License-Identifier: Apache-2.0
#include "api/health.h"

#include <gtest/gtest.h>

namespace nereid::api {
namespace {

TEST(AddReason, MakesTheAnswerNo) {
  Readiness readiness;
  AddReason({.cause = "draining", .text = "why"}, &readiness);
  EXPECT_FALSE(readiness.ready);
  ASSERT_EQ(readiness.reasons.size(), 1u);
  EXPECT_EQ(readiness.reasons[0].text, "why");
  EXPECT_EQ(readiness.omitted, 0u);
}

TEST(AddReason, BoundsTheirNumber) {
  Readiness readiness;
  for (size_t i = 0; i < kMaxHealthReasons + 7; ++i) AddReason({.cause = "model"}, &readiness);
  EXPECT_EQ(readiness.reasons.size(), kMaxHealthReasons);
  EXPECT_EQ(readiness.omitted, 7u);
}

TEST(AddReason, CutsTextsBetweenCharacters) {
  Readiness readiness;
  AddReason({.cause = "model", .text = std::string(kMaxReasonText, 'x')}, &readiness);
  EXPECT_EQ(readiness.reasons[0].text, std::string(kMaxReasonText, 'x'));
  // The character of two bytes does not fit as a whole.
  const std::string before(kMaxReasonText - 1, 'x');
  AddReason({.cause = "model", .text = before + "\xc3\xa9" + "tail"}, &readiness);
  EXPECT_EQ(readiness.reasons[1].text, before + "...");
  // Bytes that are no character at all end somewhere, too.
  AddReason({.cause = "model", .text = std::string(2 * kMaxReasonText, '\x80')}, &readiness);
  EXPECT_EQ(readiness.reasons[2].text, "...");
}

}  // namespace
}  // namespace nereid::api
